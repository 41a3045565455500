import { composeUp, hasDocker, type Profile } from "./compose.ts";
import { endpointAt, listenerAt, portOf, untilUp } from "./endpoint.ts";
import { installMinistack, spawnMinistack } from "./ministack.ts";
import { logFile, makeFolder, remember, remembered } from "./state.ts";

export type With = Profile | "python";

/**
 * Makes sure that a LocalStack-compatible endpoint listens: the one that is there, else one in Docker where Docker is, else MiniStack
 * as a process of its own. Says what it did and what comes next.
 */
export async function up(asked: { readonly with?: With }, say: (line: string) => void): Promise<void> {
  const port = portOf(process.env);
  const there = await listenerAt(port);
  if (there === "something else") {
    throw new Error(
      `Something that is no LocalStack-compatible endpoint listens on port ${port}. Stop it, or choose another port with TICKWRIGHT_STACK_PORT.`,
    );
  }
  if (there !== "nothing") {
    const isFromHere = remembered()?.port === port;
    const down = isFromHere ? "stops it" : "leaves it alone";
    say(`${there} listens on ${endpointAt(port)} already: that is used, and "npm run stack:down" ${down}.`);
    return next(say);
  }
  makeFolder();
  const isDockerThere = asked.with !== "python" && hasDocker();
  if (asked.with !== undefined && asked.with !== "python" && !isDockerThere) {
    throw new Error(
      `${asked.with} was asked for in Docker, but Docker with its compose plugin does not answer here: start it, or take "--with python".`,
    );
  }
  const way = asked.with ?? (isDockerThere ? "ministack" : "python");
  if (way === "python") await startProcess(port, say);
  else {
    say(`Starting ${way} with Docker compose.`);
    composeUp(way, port);
    remember({ by: "compose", profile: way, port });
    await untilUp(port, { limitMs: 120_000, onGiveUp: () => `${way} did not come up: see "docker compose logs".` });
  }
  say(`An endpoint listens on ${endpointAt(port)}.`);
  next(say);
}

async function startProcess(port: number, say: (line: string) => void): Promise<void> {
  installMinistack(say);
  say("Starting MiniStack.");
  const child = spawnMinistack({ port, logFile, isDetached: true });
  if (child.pid === undefined) throw new Error(`MiniStack did not start: see ${logFile}.`);
  remember({ by: "process", pid: child.pid, port });
  await untilUp(port, { limitMs: 60_000, onGiveUp: () => `MiniStack did not come up in a minute: see ${logFile}.` });
}

function next(say: (line: string) => void): void {
  say("Next: npm run stack:deploy, npm run stack:demo; npm run stack:down when done.");
}
