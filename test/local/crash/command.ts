import type { parseArgs } from "node:util";
import { runCommand, whole } from "../../command-line.ts";
import { allPoints, killAtEach } from "./kill-at.ts";

const help = `npm run crash -- [options]

Kills the embedded stack with SIGKILL before or after one call over the wire after the other, starts it again on what it left, and checks
that every run comes to the end it should. Ends with 1 if one does not.

  --stride N      every Nth point; 20 unless given
  --all           every point: an hour, on two cores
  --points N,N    only these
  --jobs N        so many at one time; 4 unless given
  --help          this text
`;

const options = {
  all: { type: "boolean", default: false },
  stride: { type: "string", default: "20" },
  points: { type: "string" },
  jobs: { type: "string", default: "4" },
} as const;
const print = (line: string) => void process.stdout.write(`${line}\n`);

async function main({ values }: ReturnType<typeof parseArgs<{ options: typeof options }>>): Promise<number> {
  const stride = values.all ? 1 : whole(values.stride, 1);
  const jobs = whole(values.jobs, 1);
  const points = values.points?.split(",").map((point) => whole(point, 1));
  const names = await allPoints();
  const wanted = points ?? Array.from({ length: Math.ceil(names.length / stride) }, (_, at) => 1 + at * stride);
  print(`${names.length} points, of ${new Set(names).size} names; kills at ${wanted.length} of them`);
  const beganAtMs = performance.now();
  let count = 0;
  const killed = await killAtEach(wanted, jobs, ({ point, killedAt, faults }) => {
    count += 1;
    const verdict = faults.length > 0 ? `WRONG: ${faults.join("; ")}` : "as it should";
    print(`${String(count).padStart(4)}/${wanted.length}  point ${point}, ${killedAt ?? "not reached"}: ${verdict}`);
  });
  const wrong = killed.filter(({ faults }) => faults.length > 0);
  const reached = killed.filter(({ killedAt }) => killedAt !== undefined);
  const covered = new Set(reached.map(({ killedAt }) => killedAt));
  const missed = [...new Set(names)].filter((name) => !covered.has(name));
  print(
    `\n${reached.length} kills at ${covered.size} kinds of points in ${Math.round((performance.now() - beganAtMs) / 1000)} s: ` +
      `${killed.length - wrong.length} as they should, ${wrong.length} wrong, ${killed.length - reached.length} not reached`,
  );
  if (missed.length > 0) print(`no kill at: ${missed.join(", ")}`);
  return wrong.length === 0 && reached.length > 0 ? 0 : 1;
}

await runCommand(help, { options }, main);
