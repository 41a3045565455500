import { Fault, type FaultData } from "../core/faults.ts";
import type { Facts, Outcome } from "../core/inputs.ts";
import type { Json } from "../core/json.ts";
import { fixed } from "../core/limits.ts";
import { type ProgramNode, stepBodyOf } from "../core/program.ts";
import type { Active } from "../core/run.ts";
import type { Remaining } from "../ports/received.ts";
import { factsForNode } from "./children.ts";
import type { Engine } from "./engine.ts";
import { runHandler } from "./handler.ts";
import type { Loaded } from "./load.ts";
import { storeOutput } from "./output.ts";
import type { StoredOutput } from "./records/attempt.ts";
import { readerOf, sliceInput } from "./resolve.ts";
import { resolveInput } from "./resolve-input.ts";

/** How an attempt ended, ready to be recorded, and its output for whoever goes on with it in this process. */
export interface Ran {
  /** Nothing: what the handler began goes on outside. */
  readonly outcome: Extract<Outcome, { kind: "ok" | "failed" | "timed-out" }> | undefined;
  readonly output: StoredOutput | undefined;
  readonly value: Json | undefined;
}

export interface Right {
  readonly token: string;
  readonly leaseUntilMs: number;
  readonly remaining: Remaining;
  /** Inline attempts have no record of their own to extend. */
  readonly isInline?: boolean;
}

/** An attempt whose handler is there and takes the input; or one that must wait for a deploy, nothing claimed, no try burnt. */
export type Prepared =
  | { readonly kind: "ready"; readonly run: (right: Right) => Promise<Ran> }
  | { readonly kind: "park"; readonly fault: FaultData };

/** Finds the handler, resolves the input and lets the handler check it, all before anything is claimed. */
export async function attempt(
  engine: Engine,
  loaded: Pick<Loaded, "run" | "program">,
  node: ProgramNode,
  entry: Active,
  known: ReadonlyMap<number, Json>,
): Promise<Prepared> {
  const { run, program } = loaded;
  const body = stepBodyOf(node.def);
  const handler = body && engine.registry.handler(body.handler);
  if (!body || !handler) return park("unknown-handler", `no handler ${body?.handler ?? node.def.name} in this build`);
  const undoes = node.def.compensates;
  const resolved = await resolving(() =>
    resolveInput(readerOf(engine, run, program, { known, undoes }), node, body.input, entry.index),
  );
  if (!resolved.ok) return { kind: "ready", run: async () => failed(resolved.fault) };
  let call: Awaited<ReturnType<typeof handler.prepare>>;
  try {
    call = await handler.prepare(resolved.value ?? null);
  } catch (error) {
    if (Fault.is(error, "bad-input")) return { kind: "park", fault: error.data };
    throw error;
  }
  const runId = program.definition.sliceOf ? (await sliceInput(engine, loaded)).runId : run.runId;
  return {
    kind: "ready",
    run: async (right) => {
      const result = await runHandler(engine, run, node, entry, right, (context) => call({ ...context, runId }));
      if (result.kind === "ok" && node.def.kind === "external") return begun;
      return result.kind === "ok"
        ? await kept(engine, loaded, node, entry, right, result.value)
        : { outcome: result, output: undefined, value: undefined };
    },
  };
}

async function resolving(resolve: () => ReturnType<typeof resolveInput>): ReturnType<typeof resolveInput> {
  try {
    return await resolve();
  } catch (error) {
    if (
      Fault.is(error) &&
      (error.code === "missing-value" || error.code === "not-comparable" || error.code === "no-case")
    )
      return { ok: false, fault: error.data };
    throw error;
  }
}

/** Stores the output and computes what control flow needs of it: nobody after this process holds it. */
async function kept(
  engine: Engine,
  { run, program }: Pick<Loaded, "run" | "program">,
  node: ProgramNode,
  entry: Active,
  right: Right,
  value: Json,
): Promise<Ran> {
  try {
    const output = await storeOutput(
      engine,
      run,
      entry,
      right.token,
      value,
      right.isInline ? fixed.tinyOutputBytesMax : undefined,
    );
    const facts: Facts = await factsForNode(engine, run, program, node.position, value, right.token);
    return { outcome: { kind: "ok", facts }, output, value };
  } catch (error) {
    if (Fault.is(error, "payload-too-big")) return failed(error.data);
    throw error;
  }
}

/** What goes on outside ends when somebody says so. */
const begun: Ran = { outcome: undefined, output: undefined, value: undefined };

const failed = (fault: FaultData): Ran => ({ outcome: { kind: "failed", fault }, output: undefined, value: undefined });

const park = (code: FaultData["code"], message: string): Prepared => ({ kind: "park", fault: { code, message } });
