import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { decodeRun } from "../../lib/core/row-format.ts";
import { isSettled, statusOf } from "../../lib/core/run.ts";
import { readResult } from "../../lib/engine/inspect.ts";
import { refOf } from "../engine/raw.ts";
import { type Middle, middleFrom, type Shapes, shapesNow } from "./golden.ts";
import { toTheEnd, workloadWorld } from "./workload.ts";

const read = (name: string) => readFileSync(new URL(`./${name}`, import.meta.url), "utf8");
const golden = JSON.parse(read("shapes-1.json")) as Shapes;

const advice =
  "What is stored or sent has changed. Two adjacent versions process the same records at once (docs/adr/0001-stored-formats.md), so: " +
  "an attribute that readers of format 1 may ignore is added to shapes-1.json by hand, with a reader that does without it and a case in " +
  "format-1.json; anything else is format 2, with readers of both and goldens of its own (node test/compat/write-golden.ts 2)";

describe("what is stored and sent", () => {
  test("has the shapes of format 1: every kind of record and of message, attribute by attribute", async () => {
    const now = await shapesNow();
    expect(Object.keys(now), advice).toEqual(Object.keys(golden));
    for (const [kind, attributes] of Object.entries(now))
      expect(attributes, `${kind}: ${advice}`).toEqual(golden[kind]);
  });

  test("is of every kind that there is, or this test would not see it change", () => {
    const outcomes = ["cancelled", "decided", "failed", "lost", "ok", "open", "timed-out"].map((each) => `ATT ${each}`);
    const records = ["DEF", "IN", "ITEM", "OUT", "OUT#P", "OUT#S", "STATE", "STATE#MAIL", "STATE#STRIKES", "#WATCH"];
    const messages = ["task", "wake", "watch"].map((each) => `message to ${each}`);
    expect(Object.keys(golden).toSorted()).toEqual([...outcomes, ...records, ...messages].toSorted());
  });
});

describe("a table that format 1 left in the middle of things", () => {
  const middle = middleFrom(read("middle-1.json"));
  const opened = async () => {
    const { world } = workloadWorld(undefined, 2);
    for (const { pk, sk, fields } of middle.records)
      await world.store.write({ kind: "put", key: { pk, sk }, fields, when: [] });
    await world.engine.payloads.put(...payloadOf(middle.records));
    await world.clock.advance(middle.atMs - world.clock.nowMs());
    return world;
  };

  test("is carried to its end by this build, although every message was lost", async () => {
    const world = await opened();
    await toTheEnd(world, middle.token);
    const { run, output } = await readResult(world.engine, refOf("all"));
    expect([statusOf(run), output?.ok && output.value]).toEqual(["succeeded", 1]);
    expect(world.thrown).toEqual([]);
    const rows = world.store.snapshot().filter(({ sk }) => sk === "STATE");
    expect(rows.map((row) => isSettled(decodeRun({ pk: row.pk }, row)))).toEqual(rows.map(() => true));
    // what had ended before was neither run again nor asked for again
    expect(world.metrics.total("attempts-claimed")).toBeLessThanOrEqual(2);
  });
});

/** The one payload that is not in the table: five hundred kilobytes of one letter. */
function payloadOf(records: Middle["records"]) {
  const names = records.map(({ fields }) => String(fields["s"]));
  const bytes = new TextEncoder().encode(JSON.stringify({ text: "h".repeat(500_000) }));
  return [names.find((name) => name.includes("/OUT/")) ?? "", bytes, { expiresAtS: 2e9 }] as const;
}
