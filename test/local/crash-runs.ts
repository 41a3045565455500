import { join } from "node:path";
import { type PlannedRun, readRunFile } from "../../examples/demo/run-file.ts";

/** Waits for a person, and then for whoever wakes it. */
export const approvedByHand = "order-by-hand";

const folder = join(import.meta.dirname, "..", "..", "examples");

/**
 * What the input files plan without anybody doing anything to it, and without a worker that takes the whole process down; orders of many
 * lines, slow ones among them, so that there is something to kill; and one that waits for a person.
 */
export async function plannedRuns(): Promise<readonly PlannedRun[]> {
  const files = await Promise.all(
    ["order", "documents", "onboarding"].map((name) => readRunFile(join(folder, name, "runs.json"))),
  );
  const left = files.flat().filter(({ do: actions, input, expect }) => {
    const isAlone = actions.length === 0 && expect.reason !== "timed-out" && expect.gates["approval"] === undefined;
    return isAlone && !JSON.stringify(input).includes("crash");
  });
  // what a kill costs in attempts is not the file's to say
  const tolerant = left.map((planned) => ({ ...planned, expect: { ...planned.expect, attempts: {} } }));
  return [
    ...tolerant,
    ...Array.from({ length: 24 }, (_, number) => basket(number)),
    order(approvedByHand, "desk-oak", 120_000),
  ];
}

const basket = (number: number) => order(`order-basket-${number}`, `vase-${number % 3 === 0 ? "slow" : "raku"}`, 2400);

function order(runId: string, sku: string, unitCents: number): PlannedRun {
  const lines = ["first", "second", "third"].map((line) => ({ sku: `${sku}-${line}`, quantity: 1, unitCents }));
  const input = { orderId: runId, email: "ida@rhodes.example", address: "4 Kingsway, London", card: "visa-7", lines };
  const output = { receiptId: `receipt-${runId}`, trackingId: `parcel-${runId}`, isTold: true };
  const none = { attempts: {}, gates: {}, items: {}, isUncompensated: false };
  return { runId, workflow: "order", about: runId, input, do: [], expect: { ...none, status: "succeeded", output } };
}
