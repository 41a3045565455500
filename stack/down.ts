import { readFileSync } from "node:fs";
import { composeDown } from "./compose.ts";
import { forget, remembered } from "./state.ts";

/** Stops what `up` started, and nothing else. What was deployed there is gone with it. */
export async function down(say: (line: string) => void): Promise<void> {
  const started = remembered();
  if (!started) return say("Nothing to stop: no endpoint was started from here.");
  if (started.by === "compose") {
    composeDown(started.profile, started.port);
    say(`Stopped ${started.profile}.`);
  } else if (!isOurs(started.pid)) {
    say(`The process ${started.pid} had ended by itself.`);
  } else {
    process.kill(started.pid, "SIGTERM");
    await untilGone(started.pid);
    say(`Stopped MiniStack, process ${started.pid}.`);
  }
  forget();
}

/** A process id may have been given to somebody else meanwhile. */
function isOurs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("ministack");
  } catch (error) {
    // no such process; or no /proc, as on macOS: there the id has to do
    return (error as NodeJS.ErrnoException).code === "ENOENT" && process.platform !== "linux";
  }
}

async function untilGone(pid: number): Promise<void> {
  const endsAtMs = performance.now() + 15_000;
  while (isOurs(pid)) {
    if (performance.now() > endsAtMs) {
      process.kill(pid, "SIGKILL");
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
