/**
 * `npm run explore`: the real engine under every interleaving of its calls, every crash and every lost reply within the bounds of
 * each scope. Ends with 1 if anything is wrong, and tells the way there; and if a bound cut anything off.
 */
import type { parseArgs } from "node:util";
import { named, runCommand, whole } from "../command-line.ts";
import { breakAll } from "./broken.ts";
import { scopes } from "./scopes.ts";
import { type Explored, explore, replayed } from "./search.ts";
import { exploreAll } from "./threads.ts";

const help = `npm run explore -- [options]

  --scope NAME[,NAME]   only these scopes; --list names them
  --quick               without the scopes that take long
  --depth N             moves on one way at most; what is beyond is counted as cut (400)
  --seconds N           at most so long for a scope; what is left is counted as cut (600). A scope that was cut is no success
  --breadth             shortest ways first, instead of one way to its end and then the next
  --replay NUMBERS      tells the way that a violation named; with --scope
  --broken RULE|all     takes rules of test/mutations/table.ts out of the source, in a copy, and explores what should find it;
                        RULE is an id or its beginning, or several with commas
  --threads N           scopes at one time (2)
  --json                one line of JSON for each scope, and nothing else
  --list                the scopes with what they cover and what not
  --help
`;

const options = {
  scope: { type: "string" },
  quick: { type: "boolean", default: false },
  depth: { type: "string", default: "400" },
  seconds: { type: "string", default: "600" },
  breadth: { type: "boolean", default: false },
  replay: { type: "string" },
  broken: { type: "string" },
  threads: { type: "string", default: "2" },
  json: { type: "boolean", default: false },
  list: { type: "boolean", default: false },
} as const;
type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>["values"];

const numbered = (trace: readonly string[]) =>
  trace.map((each, index) => `${String(index + 1).padStart(4)}. ${each}`).join("\n");

function row({ scope, states, moves, pruned, ends, longest, positions, executions, cut, seconds }: Explored): string {
  const numbers = [states, moves, pruned, ends, longest, positions, executions, cut];
  return `${scope.padEnd(30)}${numbers.map((each) => String(each).padStart(10)).join("")}${seconds.toFixed(1).padStart(9)}`;
}

const heading = `${"scope".padEnd(30)}${["states", "moves", "pruned", "ends", "longest", "positions", "runs", "cut"].map((each) => each.padStart(10)).join("")}${"seconds".padStart(9)}`;

async function tellViolation(found: Explored, isShortest: boolean): Promise<void> {
  const scope = scopes.find(({ name }) => name === found.scope);
  const { violation } = found;
  if (!scope || !violation) return;
  const shorter = isShortest
    ? undefined
    : await explore(scope, { order: "breadth", secondsMax: 60, statesMax: Math.max(200_000, found.states * 4) });
  const { what, replay, trace } = shorter?.violation ?? violation;
  console.log(`\n${scope.name}: WRONG after ${trace.length} moves\n${numbered(trace)}`);
  for (const each of what) console.log(`   => ${each}`);
  console.log(`   again: npm run explore -- --scope ${scope.name} --replay ${replay}\n`);
}

async function exploreThem(names: readonly string[], values: Values): Promise<boolean> {
  const bounds = {
    depthMax: whole(values.depth, 1),
    secondsMax: whole(values.seconds, 1),
    order: values.breadth ? ("breadth" as const) : ("depth" as const),
  };
  if (!values.json) console.log(heading);
  let toldAtMs = Date.now();
  const all = await exploreAll(
    names,
    bounds,
    {
      progress: (scope, { states, open }) => {
        if (values.json || Date.now() - toldAtMs < 10_000) return;
        toldAtMs = Date.now();
        console.error(`  ... ${scope}: ${states} states, ${open} open`);
      },
      explored: (explored) => console.log(values.json ? JSON.stringify(explored) : row(explored)),
    },
    whole(values.threads, 1),
  );
  const wrong = all.filter(({ violation }) => violation);
  const cut = all.filter((each) => each.cut > 0 && !each.violation);
  const isWell = wrong.length === 0 && cut.length === 0;
  if (values.json) return isWell;
  for (const each of wrong) await tellViolation(each, values.breadth);
  const sum = (of: (each: Explored) => number) => all.reduce((total, each) => total + of(each), 0);
  console.log(
    `\n${all.length} scopes: ${sum(({ states }) => states)} states, ${sum(({ moves }) => moves)} moves; ${wrong.length} with a violation${cut.length > 0 ? `; not to the end: ${cut.map(({ scope }) => scope).join(", ")}` : ", each to its end"}`,
  );
  for (const scope of scopes.filter(({ name }) => names.includes(name)))
    console.log(`  ${scope.name} does not cover: ${scope.not}`);
  return isWell;
}

async function main(values: Values): Promise<boolean> {
  const names =
    values.scope?.split(",") ?? scopes.filter(({ isLong }) => !(values.quick && isLong)).map(({ name }) => name);
  for (const name of names)
    named(
      name,
      scopes.map((each) => each.name),
    );
  if (values.list) {
    for (const { name, about, not } of scopes) console.log(`${name}\n  ${about}\n  Not: ${not}`);
    return true;
  }
  if (values.replay !== undefined) {
    const scope = scopes.find(({ name }) => name === names[0]);
    if (!scope || names.length !== 1) throw new RangeError("--replay needs one --scope");
    const { trace, wrong } = await replayed(scope, values.replay);
    console.log(numbered(trace));
    for (const each of wrong) console.log(`   => ${each}`);
    return wrong.length === 0;
  }
  if (values.broken !== undefined) return await breakAll(values.broken, whole(values.threads, 1));
  return await exploreThem(names, values);
}

await runCommand(help, { options }, async ({ values }) => ((await main(values)) ? 0 : 1));
