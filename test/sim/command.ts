import { availableParallelism } from "node:os";
import type { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { named, runCommand, whole } from "../command-line.ts";
import { type Breakage, breakages } from "./breaks.ts";
import { type ProfileName, profiles } from "./faults.ts";
import { figuresOf, unreached } from "./figures.ts";
import { shrink } from "./shrink.ts";
import { type Asked, type Simulated, simulate } from "./simulation.ts";
import type { Told } from "./thread.ts";

const help = `npm run sim -- [options]

Plays simulations of the production code: one for each seed, all faults drawn from it, every invariant checked at every write.

  --seed N        the first seed; 1 unless given
  --runs N        so many seeds from there; 100 unless given
  --profile NAME  ${Object.keys(profiles).join(", ")}, or mixed: one of them for each seed (the default)
  --threads N     as many as this machine has cores, unless given
  --keep IDS      only these of a seed's choices, as a shrunk trace names them; --keep "" for none
  --trace         print everything that happens in a single seed
  --break RULE    take a condition away at the table, to see it found: ${Object.keys(breakages).join(", ")}
  --stop-after N  stop after so many failing seeds; 3 unless given
  --brief         name failing seeds, and do not shrink them
  --help          this text

Ends with 1 if an invariant was violated, or if a run of 5000 seeds and more never reached a branch that it has to.
`;

const options = {
  seed: { type: "string", default: "1" },
  runs: { type: "string" },
  profile: { type: "string", default: "mixed" },
  threads: { type: "string" },
  keep: { type: "string" },
  trace: { type: "boolean" },
  break: { type: "string" },
  "stop-after": { type: "string", default: "3" },
  brief: { type: "boolean" },
} as const;

/** Seeds that a thread gets at a time. */
const portion = 10;
/** From here on every branch has to be reached. */
const manyRuns = 5000;

const print = (text: string) => void process.stdout.write(`${text}\n`);

async function main({ values }: ReturnType<typeof parseArgs<{ options: typeof options }>>): Promise<number> {
  const profile = named(values.profile, ["mixed", ...Object.keys(profiles)]) as ProfileName | "mixed";
  const breakage =
    values.break === undefined ? {} : { breakage: named(values.break, Object.keys(breakages)) as Breakage };
  const keep = values.keep === undefined ? {} : { keep: new Set(values.keep.split(",").filter((id) => id !== "")) };
  const common = { profile, ...breakage, ...keep };
  const first = whole(values.seed);
  const isSingle = values.keep !== undefined || values.trace === true;
  const runs = values.runs === undefined ? (isSingle ? 1 : 100) : whole(values.runs);
  if (values.trace) return await traced({ ...common, seed: first });
  return await many(
    {
      first,
      runs,
      threads: whole(values.threads ?? String(availableParallelism()), 1),
      failuresMax: whole(values["stop-after"], 1),
      isBrief: values.brief === true,
    },
    common,
  );
}

async function traced(asked: Asked): Promise<number> {
  const played = await simulate({ ...asked, isTraced: true });
  print(headOf(played));
  print(played.lines.join("\n"));
  print(`\n${played.violations.length} violations, trace hash ${played.hash}`);
  return played.violations.length > 0 ? 1 : 0;
}

interface Amount {
  readonly first: number;
  readonly runs: number;
  readonly threads: number;
  readonly failuresMax: number;
  readonly isBrief: boolean;
}

async function many(
  { first, runs, threads, failuresMax, isBrief }: Amount,
  common: Omit<Asked, "seed">,
): Promise<number> {
  const beganMs = performance.now();
  const counts = new Map<string, number>();
  const failures: Told[] = [];
  let [done, next] = [0, first];
  const seconds = () => (performance.now() - beganMs) / 1000;
  const progress = () =>
    `${done} of ${runs} seeds, ${failures.length} failing, ${(done / seconds()).toFixed(1)} a second`;
  const timer = setInterval(() => print(`  ${progress()}`), 10_000);
  const take = () => {
    const seeds = Array.from({ length: Math.min(portion, first + runs - next) }, (_, at) => next + at);
    next += seeds.length;
    return failures.length >= failuresMax ? [] : seeds;
  };
  const tell = (told: Told) => {
    done += 1;
    for (const [name, value] of told.counts) counts.set(name, (counts.get(name) ?? 0) + value);
    if (told.violations.length === 0) return;
    failures.push(told);
    print(`  seed ${told.seed} (${told.profile}): ${told.violations[0]?.what.slice(0, 200)}`);
  };
  await Promise.all(
    Array.from({ length: Math.min(threads, Math.ceil(runs / portion)) }, () => working(common, take, tell)),
  );
  clearInterval(timer);
  print(`${progress()}, ${seconds().toFixed(1)} s`);
  print(figuresOf(counts));
  for (const told of failures.sort((a, b) => a.seed - b.seed).slice(0, failuresMax))
    await report({ ...common, seed: told.seed }, told, isBrief);
  const missing = runs >= manyRuns && common.profile === "mixed" && failures.length === 0 ? unreached(counts) : [];
  if (missing.length > 0) print(`\nnever reached: ${missing.join(", ")}`);
  print(
    `\n${failures.length === 0 ? "no invariant was violated" : `${failures.length} of ${done} seeds violate an invariant`}`,
  );
  return failures.length > 0 || missing.length > 0 ? 1 : 0;
}

/** A thread that takes seeds as long as there are any. */
function working(
  common: Omit<Asked, "seed">,
  take: () => readonly number[],
  tell: (told: Told) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./thread.ts", import.meta.url), { workerData: common });
    const go = () => {
      const seeds = take();
      if (seeds.length > 0) worker.postMessage(seeds);
      else void worker.terminate().then(() => resolve());
    };
    worker.on("message", (message: Told | "more") => (message === "more" ? go() : tell(message)));
    worker.on("error", reject);
    go();
  });
}

/** A failing seed: what was violated, the smallest part of it that still does, and how to play that again. */
async function report(asked: Asked, told: Told, isBrief: boolean): Promise<void> {
  print(`\nseed ${told.seed} (${told.profile})`);
  for (const { invariant, what } of told.violations.slice(0, 3)) print(`  invariant ${invariant}: ${what}`);
  const played = isBrief ? undefined : await simulate(asked).catch(() => undefined);
  if (!played) return;
  const small = await shrink(asked, played);
  print(`\n  ${small.choices.length} of its ${played.choices.length} choices are enough:`);
  for (const { id, what } of small.choices) print(`    ${id}  ${what}`);
  print(headOf(small));
  print(small.lines.slice(-250).join("\n"));
  const rule = asked.breakage === undefined ? "" : ` --break ${asked.breakage}`;
  print(
    `\n  npm run sim -- --seed ${asked.seed} --profile ${asked.profile}${rule} --trace --keep ${small.choices.map(({ id }) => id).join(",") || '""'}`,
  );
}

function headOf(played: Simulated): string {
  const rates = Object.entries(played.rates).filter(([, rate]) => rate > 0);
  return `\nseed ${played.seed}, profile ${played.profile}; faults: ${rates.map(([kind, rate]) => `${kind} ${rate}`).join(", ") || "none"}\n`;
}

await runCommand(help, { options }, main);
