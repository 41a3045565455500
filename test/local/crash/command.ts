/**
 * `npm run crash`: kills the embedded stack with SIGKILL at one point after the other, starts it again, and checks that every run comes to
 * the end it should.
 *
 *     npm run crash -- --stride 20             every twentieth point
 *     npm run crash -- --all                   every point
 *     npm run crash -- --points 17,18 --jobs 1
 */
import { parseArgs } from "node:util";
import { allPoints, killAtEach } from "./kill-at.ts";

const { values } = parseArgs({
  options: {
    all: { type: "boolean", default: false },
    stride: { type: "string", default: "20" },
    points: { type: "string" },
    jobs: { type: "string", default: "4" },
  },
});
const print = (line: string) => void process.stdout.write(`${line}\n`);

const names = await allPoints();
const stride = values.all ? 1 : Number(values.stride);
if (!(stride >= 1)) throw new Error(`--stride must be a whole number from 1, not ${values.stride}`);
const wanted =
  values.points?.split(",").map(Number) ??
  Array.from({ length: Math.ceil(names.length / stride) }, (_, at) => 1 + at * stride);
print(`${names.length} points, of ${new Set(names).size} names; kills at ${wanted.length} of them`);
const beganAtMs = performance.now();
let count = 0;
const killed = await killAtEach(wanted, Number(values.jobs), ({ point, killedAt, faults }) => {
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
process.exitCode = wrong.length === 0 && reached.length > 0 ? 0 : 1;
