import { Fault } from "../../lib/core/faults.ts";
import { fractionOf } from "../../lib/core/hash.ts";
import type { Json } from "../../lib/core/json.ts";
import type { StepContext } from "../../lib/core/registry.ts";
import type { RawHandler } from "../engine/raw.ts";
import type { Process } from "./process.ts";
import type { World } from "./world.ts";

/** What the users' functions do. Every output says exactly what it was made of, and no try yields another than the one before. */
const kinds: { readonly [name: string]: (input: Json, context: StepContext) => Json } = {
  work: (input) => adds(input),
  /** Too big for its record, so it stands beside it. */
  big: (input) => ({ n: adds(input), text: "x".repeat(300 + (adds(input) % 6000)) }),
  fails: () => {
    throw new Fault("fatal", "as it was told");
  },
  /** Fails at some of its tries, never at all of many. */
  flaky: (input, { idempotencyKey, attempt }) => {
    if (fractionOf(`${idempotencyKey}/${attempt}`) < 0.4) throw new Error("this time it did not work");
    return adds(input);
  },
  /** Counts its own iterations. */
  again: (input, { index }) => ({ turn: index + 1, n: adds(input) }),
};

/** All handlers that there are, `name@version`. The version of `work` says which deploy may take it away. */
const handlerRefs = ["work@1", "work@2", "work@3", "big@1", "fails@1", "flaky@1", "again@1", "begin@1", "slow@1"];

/** The sum of all numbers in it and one, small enough to be a fact. */
export function adds(value: Json): number {
  return (1 + sumOf(value)) % 100_003;
}

function sumOf(value: Json): number {
  if (typeof value === "number") return value;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, each) => sum + sumOf(each as Json), 0);
}

/** What a handler yields, without a run: what the reference goes by. */
export function yielded(
  ref: string,
  input: Json,
  index: number,
): { readonly ok: true; readonly value: Json } | { readonly ok: false } {
  const kind = ref.split("@")[0] ?? "";
  if (kind === "fails") return { ok: false };
  if (kind === "again") return { ok: true, value: { turn: index + 1, n: adds(input) } };
  if (kind === "big") return { ok: true, value: kinds["big"]?.(input, {} as StepContext) ?? null };
  return { ok: true, value: adds(input) };
}

/** The handlers of a build as one process has them: they take time, may kill their process, and are watched. */
export function handlersFor(
  world: World,
  process: Process,
  without: readonly string[],
): { readonly [ref: string]: RawHandler } {
  const found = handlerRefs.filter((ref) => !without.includes(ref));
  return Object.fromEntries(found.map((ref) => [ref, handlerOf(world, process, ref)]));
}

function handlerOf(world: World, process: Process, ref: string): RawHandler {
  const kind = ref.split("@")[0] ?? "";
  return async (input, context) => {
    const { random } = process;
    const call = world.calls.begin(process, context);
    const isFatal = process.suffers("crash-in-handler", `${context.node}/${context.index}/${context.attempt}`);
    const [takesMs, dies] = [timeOf(kind, random.fraction()), random.fraction()];
    try {
      await spend(process, context, takesMs * (isFatal ? dies : 1), kind === "slow");
      if (isFatal) return await process.die(`in handler ${context.node}`);
      if (kind === "begin") {
        world.begin(context.token, adds(input));
        return null;
      }
      return (kinds[kind] ?? adds)(input, context);
    } finally {
      call.end();
    }
  };
}

/** Most take no time to speak of, some seconds; a slow one up to a minute, longer than it may. */
function timeOf(kind: string, fraction: number): number {
  if (kind === "slow") return Math.round(fraction * 60_000);
  return fraction > 0.9 ? Math.round((fraction - 0.9) * 100_000) : Math.round(fraction * 300);
}

/** A slow one says now and then that it is alive, and stops when it is told to. */
async function spend(process: Process, context: StepContext, takesMs: number, hasHeartbeat: boolean): Promise<void> {
  const { clock } = process.engine;
  if (!hasHeartbeat) return await clock.sleep(takesMs);
  // now and then so late that the lease of 15 s is over
  const pausesMs = Array.from({ length: 20 }, () => 4000 + process.random.integer(12_000));
  for (let leftMs = takesMs; leftMs > 0; ) {
    const pauseMs = Math.min(leftMs, pausesMs.pop() ?? leftMs);
    await clock.sleep(pauseMs, context.signal);
    leftMs -= pauseMs;
    await context.heartbeat();
  }
}
