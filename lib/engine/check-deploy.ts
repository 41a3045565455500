import type { Contracts } from "../core/contract.ts";
import { type BuildFacts, findingsFor, findingsOf, type Verdict, verdictOf } from "../core/deploy-check.ts";
import { type DefinitionVerdict, type DeployReport, type RunVerdict, reportOf } from "../core/deploy-report.ts";
import { Fault } from "../core/faults.ts";
import { duePartition } from "../core/keys.ts";
import { fixed } from "../core/limits.ts";
import { nodeAt, type Program, programOf, stepBodyOf, waitsFor } from "../core/program.ts";
import { decodeRun } from "../core/row-format.ts";
import { isLive, type Run, statusOf } from "../core/run.ts";
import { isWide, slicedFrom, workflowOf } from "../core/slices.ts";
import { digest } from "../digest.ts";
import { attempt } from "./attempt.ts";
import { recordedContracts } from "./contracts.ts";
import { programFor } from "./definitions.ts";
import type { Engine } from "./engine.ts";
import { isExpired } from "./load.ts";
import { stateKey } from "./records/state.ts";

/** How much is looked at, and how much of it is told. */
export interface CheckOptions {
  /** Runs looked at, at most; 100,000 unless given. */
  readonly runsMax?: number;
  /** Runs named for each definition, at most; 20 unless given. */
  readonly namedMax?: number;
}

interface Family {
  readonly program: Program;
  readonly recorded: readonly { readonly contracts: Contracts; readonly sinceMs: number }[];
  readonly counts: { [verdict in Verdict]?: number };
  readonly runs: RunVerdict[];
}

/**
 * What this process's build would do to the runs in flight: looks at every live run (all of them have a due, or are parked), at the
 * inputs of what is in flight, and at the schemas of what is still to begin. Reads, and writes nothing.
 */
export async function checkDeploy(engine: Engine, options: CheckOptions = {}): Promise<DeployReport> {
  const { runsMax = 100_000, namedMax = 20 } = options;
  const families = new Map<string, Family>();
  let looked = 0;
  let isPartial = false;
  for await (const run of liveRuns(engine)) {
    if (looked >= runsMax) {
      isPartial = true;
      break;
    }
    looked += 1;
    const family = families.get(run.definitionHash) ?? (await familyOf(engine, run.definitionHash));
    families.set(run.definitionHash, family);
    const told = await verdictFor(engine, run, family);
    family.counts[told.verdict] = (family.counts[told.verdict] ?? 0) + 1;
    if (told.verdict !== "finishes" && family.runs.length < namedMax) family.runs.push(told);
  }
  const definitions = [...families].map(([hash, family]): DefinitionVerdict => {
    const { counts, runs, program } = family;
    const workflow = program.definition.workflow;
    const graph = graphOf(engine, program);
    const findings = findingsOf(program.definition, family.recorded.at(-1)?.contracts, factsOfEngine(engine));
    return { workflow, hash, graph, findings, counts, runs };
  });
  const order = (each: DefinitionVerdict) => `${each.workflow} ${each.hash}`;
  return reportOf(
    "runs",
    definitions.sort((a, b) => (order(a) < order(b) ? -1 : 1)),
    isPartial,
  );
}

/** Whether this build has the graph: of a slice, whether a map of its workflow is still cut into the same. */
function graphOf({ registry }: Engine, { hash, definition }: Program): DefinitionVerdict["graph"] {
  const known = registry.workflow(workflowOf(definition));
  if (!known) return "gone";
  if (!definition.sliceOf) return known.hash === hash ? "same" : "old";
  const whole = programOf(known.definition, known.hash);
  const isCut = whole.nodes.some(
    ({ def, position }) => isWide(def) && digest(slicedFrom(whole, def, position).definition) === hash,
  );
  return isCut ? "same" : "old";
}

async function familyOf(engine: Engine, hash: string): Promise<Family> {
  const [program, recorded] = [await programFor(engine, hash), await recordedContracts(engine, hash)];
  return { program, recorded, counts: {}, runs: [] };
}

/** The build as this process has it. */
function factsOfEngine({ registry }: Engine): BuildFacts {
  return {
    hasWorkflow: (name) => registry.workflow(name) !== undefined,
    takesSignal: (workflow, signal) =>
      registry.keptSignals?.has(signal) === true || waitsFor(registry.workflow(workflow)?.definition, signal),
    hasGroup: (group) => registry.groups?.has(group) ?? true,
    hasDefinition: (hash) => registry.byHash(hash) !== undefined,
    contractOf: (ref) => {
      const handler = registry.handler(ref);
      return handler && (handler.contract ?? { input: { known: "nothing", library: "its registry" } });
    },
  };
}

async function verdictFor(engine: Engine, run: Run, family: Family): Promise<RunVerdict> {
  const { program } = family;
  // what a run was started with: the last that was recorded by then
  const at = family.recorded.findLast(({ sinceMs }) => sinceMs <= run.createdAtMs) ?? family.recorded[0];
  const findings = findingsFor(run, program, findingsOf(program.definition, at?.contracts, factsOfEngine(engine)));
  const unfit = await unfitOf(engine, run, program);
  return {
    tenant: run.tenant,
    runId: run.runId,
    status: statusOf(run),
    verdict: verdictOf(run, findings, new Set(unfit.keys())),
    findings,
    faults: [...unfit.values()],
  };
}

/** Nodes in flight that could not begin now, each with the reason: their handlers are asked whether the input fits. */
async function unfitOf(engine: Engine, run: Run, program: Program): Promise<ReadonlyMap<number, string>> {
  const unfit = new Map<number, string>();
  for (const entry of run.active) {
    const node = nodeAt(program, entry.node);
    if (!stepBodyOf(node.def) || !["task", "held", "parked"].includes(entry.state) || unfit.has(entry.node)) continue;
    const prepared = await attempt(engine, { run, program }, node, entry, new Map()).catch(unlessFault);
    if (prepared?.kind === "park") unfit.set(entry.node, `${node.def.name}: ${prepared.fault.message}`);
  }
  return unfit;
}

/** An input that cannot be read from here (its payload is in a bucket, say) is not known to be unfit. */
function unlessFault(error: unknown): undefined {
  if (!Fault.is(error)) throw error;
}

const pageMax = 100;

async function* liveRuns(engine: Engine): AsyncGenerator<Run> {
  const seen = new Set<string>();
  for (const kind of ["D", "P"] as const) {
    for (let shard = 0; shard < fixed.dueShards; shard++) {
      let after: string | undefined;
      do {
        const partition = duePartition.shard(kind, shard);
        const page = await engine.store.find("due", {
          partition,
          limit: pageMax,
          ...(after !== undefined && { after }),
        });
        const fresh = page.items.filter(({ pk }) => !seen.has(pk));
        for (const { pk } of fresh) seen.add(pk);
        yield* await readLive(engine, [...new Set(fresh.map(({ pk }) => pk))]);
        after = page.next;
      } while (after !== undefined);
    }
  }
}

async function readLive(engine: Engine, partitions: readonly string[]): Promise<readonly Run[]> {
  if (partitions.length === 0) return [];
  const keys = partitions.map((pk) => {
    const [tenant = "", runId = ""] = pk.split("#");
    return stateKey({ tenant, runId });
  });
  const rows = await engine.store.read(keys, { isConsistent: false });
  return rows.flatMap((row, at) => {
    const key = keys[at];
    if (!row || !key || isExpired(row, engine.clock.nowMs())) return [];
    try {
      const run = decodeRun({ pk: key.pk }, row);
      return isLive(run) ? [run] : [];
    } catch (error) {
      // a row that cannot be read fares no better with any build
      if (Fault.is(error)) return [];
      throw error;
    }
  });
}
