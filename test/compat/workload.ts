import type { Definition, NodeDef } from "../../lib/core/definition.ts";
import { envelopeText } from "../../lib/core/envelope.ts";
import type { Json } from "../../lib/core/json.ts";
import { bury } from "../../lib/engine/bury.ts";
import { cancel, pause, resume, signal } from "../../lib/engine/commands.ts";
import { decide } from "../../lib/engine/decide.ts";
import { complete } from "../../lib/engine/external.ts";
import { forceFail } from "../../lib/engine/force-fail.ts";
import { findRun } from "../../lib/engine/inspect.ts";
import { snapshot } from "../../lib/engine/load.ts";
import { envelope } from "../../lib/engine/messages.ts";
import { stateKey } from "../../lib/engine/records/state.ts";
import { start } from "../../lib/engine/start.ts";
import type { Fields, Key, RunStore, Value, Write } from "../../lib/ports.ts";
import { createWorld, type World } from "../../lib/testing/world.ts";
import { ref, stepBody, stepNode } from "../core/fixture.ts";
import { definitionOf, hashOf, type RawHandler, rawRegistry, refOf, runOf } from "../engine/raw.ts";

const gate = (name: string, after: readonly string[]): NodeDef => ({ kind: "gate", name, after });
const kid = definitionOf("kid", [stepNode("k", ["$input"])], ref("k"));

/** A workflow with a node of every kind, and with outputs of every size. */
const everything = definitionOf(
  "everything",
  [
    stepNode("inline", ["$input"], { isInline: true }),
    stepNode("flaky", ["inline"]),
    stepNode("big", ["flaky"]),
    stepNode("huge", ["flaky"], { group: "mail" }),
    ...["p1", "p2", "p3", "p4", "p5", "p6", "p7"].map((name, at) =>
      stepNode(name, [at === 0 ? "inline" : `p${at}`], { isInline: true }),
    ),
    stepNode("hangs", ["flaky"]),
    stepNode("list", ["flaky"]),
    { kind: "map", name: "each", items: ref("list"), body: stepBody({ input: ref("$item") }), concurrency: 2 },
    gate("approval", ["flaky"]),
    { ...gate("late", ["flaky"]), timeoutMs: 60_000, onTimeout: "continue" } as NodeDef,
    { kind: "signal", name: "paid", signal: "paid", after: ["flaky"], timeoutMs: 86_400_000 },
    { kind: "signal", name: "letter", signal: "letter", after: ["flaky"] },
    { kind: "child", name: "child", workflow: "kid", definition: hashOf(kid), input: ref("$input") },
    { kind: "sleep", name: "night", forMs: 28_800_000, after: ["flaky"] },
    {
      ...stepBody({ input: ref("$input") }),
      kind: "external",
      name: "render",
      completeWithinMs: 86_400_000,
    } as NodeDef,
    stepNode("last", ["big", "huge", "each", "paid", "letter", "child", "render"], { after: ["approval", "night"] }),
    stepNode("big.undo", ["big"], { compensates: "big" }),
  ],
  ref("last"),
);
const doomed = definitionOf("doomed", [stepNode("d", ["$input"]), stepNode("d.undo", ["d"], { compensates: "d" })]);
const definitions: readonly Definition[] = [everything, kid, doomed];

/** What the workload's handlers do: nothing, or what the node is called for. */
function handlerOf(tokens: string[]): RawHandler {
  return async (_, { node, attempt, token }): Promise<Json> => {
    if (node === "flaky" && attempt === 1) throw new Error("at first");
    if (node === "render") tokens.push(token ?? "");
    if (node === "hangs" && attempt === 1) return new Promise<Json>(() => undefined);
    if (node === "list") return Array.from({ length: 30 }, (__, at) => ({ at, text: "i".repeat(300) }));
    if (node.startsWith("p")) return "p".repeat(170);
    if (node === "big") return { text: "b".repeat(5000) };
    return node === "huge" ? { text: "h".repeat(500_000) } : 1;
  };
}

type Observe = (key: Key, record: Fields | undefined) => void;

/** A world of the workload. `observe` is told each record that was written, as it stands then. */
export function workloadWorld(observe: Observe = () => undefined, seed = 1) {
  const tokens: string[] = [];
  const handlers = { "work@1": handlerOf(tokens) };
  const world = createWorld({
    registry: rawRegistry(definitions, handlers),
    seed,
    functionMs: 120_000,
    store: (inner): RunStore => ({
      ...inner,
      async write(write: Write, options) {
        const written = await inner.write(write, options);
        observe(write.key, inner.peek(write.key));
        return written;
      },
    }),
  });
  return { world, tokens };
}

/** Starts it, and goes on until everything is in flight that waits for somebody. */
export async function toTheMiddle(world: World): Promise<void> {
  const { engine } = world;
  const input = { n: 1 };
  const told = { actor: "ida", tags: { kind: "golden" } };
  await start(engine, { workflow: "everything", runId: "all", input, ...told });
  await start(engine, { workflow: "doomed", runId: "doomed", input: { n: 1 } });
  await signal(engine, refOf("all"), { signal: "letter", payload: "l".repeat(2000), id: "letter-1" });
  await world.advance(600_000);
  await pause(engine, refOf("all"), "mei", "a look");
  await world.advance(60_000);
  await resume(engine, refOf("all"), "mei");
  await world.advance(60_000);
}

/** Does what the middle waits for, and goes on to the end. */
export async function toTheEnd(world: World, token: string): Promise<void> {
  const { engine } = world;
  await signal(engine, refOf("all"), { signal: "paid", payload: 7, id: "paid-1" });
  await signal(engine, refOf("all"), { signal: "paid", payload: 8, id: "paid-2" });
  await decide(engine, refOf("all"), { gate: "approval", approved: true, by: "mei", comment: "fine" });
  await complete(engine, token, { url: "u" });
  await world.until(async () => (await findRun(engine, refOf("all")))?.endedAtMs !== undefined);
  await world.advance(3_600_000);
}

/** What goes wrong: a claim that dies, a run that is cancelled, one that nobody can decode, one that is ended by force. */
export async function troubles(world: World): Promise<void> {
  const { engine, store } = world;
  for (const runId of ["cancelled", "stuck", "unread"]) {
    await start(engine, { workflow: "everything", runId, input: { n: 1 } });
  }
  await cancel(engine, refOf("cancelled"), "mei", "a mistake");
  await world.advance(7_200_000);
  await start(engine, { workflow: "doomed", runId: "lost", input: { n: 1 } });
  const task = envelopeText({
    ...envelope(await runOf(world, "lost"), {}),
    task: { node: 0, index: 0, attempt: 1, sends: 1 },
  });
  await bury(engine, [{ id: "m1", body: task, receiveCount: 1, taskKey: "t" }], () => 60_000);
  await world.advance(60_000);
  const stuck = await snapshot(engine, refOf("stuck"));
  if (stuck) await forceFail(engine, stuck, "stuck", "a test");
  const row = store.peek(stateKey(refOf("unread")));
  await store.write({
    kind: "put",
    key: stateKey(refOf("unread")),
    fields: { ...row, n: new Uint8Array([1]) },
    when: [],
  });
  await world.queue.send([{ queue: "wake:standard", body: '{"runId":"unread"}', group: "g", taskKey: "t" }]);
  await world.advance(60_000);
  const unread = await snapshot(engine, refOf("unread"));
  if (unread) await forceFail(engine, unread, "stuck", "a test");
}

/** Attributes of a record and their types: what another version must be able to read. */
export function shapeOf(fields: Fields): { readonly [name: string]: string } {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, typeOf(value)]));
}

function typeOf(value: Value): string {
  if (value instanceof Uint8Array) return "bytes";
  if (Array.isArray(value)) return `list of ${[...new Set(value.map(typeOf))].sort().join(" or ") || "nothing"}`;
  if (typeof value === "object") return "map";
  if (typeof value !== "string") return typeof value;
  return value.startsWith("{") ? `text ${Object.keys(JSON.parse(value)).sort().join(" ")}` : "text";
}
