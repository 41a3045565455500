import { afterEach, describe, expect, test } from "vitest";
import { differences } from "../../examples/demo/expectation.ts";
import { sandbox } from "../../examples/sandbox.ts";
import { drawable } from "../../lib/cli/run-timeline.ts";
import { drawTimeline } from "../../lib/cli/timeline.ts";
import { readResult, timeline } from "../../lib/engine/inspect.ts";
import { createExampleWorld, play, runsOf } from "./in-virtual-time.ts";

const real = { ...sandbox };
afterEach(() => Object.assign(sandbox, real));

describe.each(["order", "documents", "onboarding"])("the input file of %s", async (example) => {
  const runs = await runsOf(example);

  test.each(runs.map((planned) => [planned.about, planned] as const))("%s", async (_, planned) => {
    const world = createExampleWorld(planned.runId);
    const troubles = await play(world, planned);
    const ref = { tenant: "default", runId: planned.runId };
    const { output } = await readResult(world.engine, ref);
    const told = await timeline(world.engine, ref);
    expect([...troubles, ...differences(planned.expect, told, output?.ok ? output.value : undefined)]).toEqual([]);
    expect(world.thrown).toEqual([]);
  });
});

describe("a golden timeline", () => {
  async function drawn(example: string, runId: string): Promise<string> {
    const planned = (await runsOf(example)).find((each) => each.runId === runId);
    if (!planned) throw new Error(`no run ${runId}`);
    const world = createExampleWorld(runId);
    await play(world, planned);
    const told = await timeline(world.engine, { tenant: "default", runId });
    return `\n${drawTimeline(drawable(told), { width: 100, isTty: false, hasColour: false }).join("\n")}\n`;
  }

  test("of an order whose bank hung", async () => {
    expect(await drawn("order", "order-20938")).toMatchInlineSnapshot(`
      "
      order order-20938  succeeded in 6 s  since 2027-01-15 08:00:00 UTC

                     0                          2 s                         4 s                       6 s
                     ├──────────────────────────┼───────────────────────────┼──────────────────────────┼─
      price    step ✔ 0 ms
      reserve  map  ✔ 1 of 1 items
      approval gate · skipped
      charge   step █████████████████████████████████████████████████████████████████████⧗ 5 s         ✔
      ship     step                                                                               0 ms ✔
      mail     step                                                                               0 ms ✔

      █✔ done   █⧗ timed out   · skipped
      "
    `);
  });

  test("of an order whose payment could not be taken back", async () => {
    expect(await drawn("order", "order-20946")).toMatchInlineSnapshot(`
      "
      order order-20946  failed in 6 ms  since 2027-01-15 08:00:00 UTC

                         0                         2 ms                      4 ms                    6 ms
                         ├─────────────────────────┼─────────────────────────┼──────────────────────────┼
      price        step ✔ 0 ms
      reserve      map  ✔ 1 of 1 items
      approval     gate · skipped
      charge       step                                                                           0 ms ✔
      ship         step                                   the carrier refused 2 Refused Street, Dublin ✘
      reserve.undo undo                                                                           0 ms ✔
      charge.undo  undo                             the bank takes nothing back from giftcard-final-77 ✘

      █✔ done   █✘ failed   · skipped
      "
    `);
  });

  test("of a document with torn pages", async () => {
    expect(await drawn("documents", "will-of-h-marsh")).toMatchInlineSnapshot(`
      "
      document will-of-h-marsh  succeeded in 1 ms  since 2027-01-15 08:00:00 UTC

                      0                                                                              1 ms
                      ├─────────────────────────────────────────────────────────────────────────────────┼
      split     step ✔ 0 ms
      recognize map  ✔ 28 of 30 items, 2 failed
      └ item 7       ✘ scans/will-of-h-marsh/7.png is torn: nothing to read
      └ item 19      ✘ scans/will-of-h-marsh/19.png is torn: nothing to read
      assemble  step                                                                              0 ms ✔
      publish   step                                                                              0 ms ✔
      set-aside step                                                                           skipped ·

      █✔ done   █✘ failed   · skipped
      "
    `);
  });

  test("of a batch of which one document fails", async () => {
    expect(await drawn("documents", "batch-2024-06-12")).toMatchInlineSnapshot(`
      "
      documents batch-2024-06-12  succeeded in 17 ms  since 2027-01-15 08:00:00 UTC

                     0                       5 ms                    10 ms                    15 ms
                     ├───────────────────────┼───────────────────────┼────────────────────────┼──────────
      document map  ███████████████████████████████████████████████████████████████████████████████████✔
      └ run 0       ██████████████████████████████████✔ 7 ms
      └ run 1       ✘ failed: recognize: 3 of 6 items failed; the last: scans/contract-3202/2.png is to…
      └ run 2       ███████████████████✔ 4 ms
      └ run 3       ████████████████████████████████████████████████████████████████████✔ 14 ms
      └ run 4       ███████████████████████████████████████████████████████████████████████████████████✔
      report   step                                                                               0 ms ✔

      █✔ done   █✘ failed
      "
    `);
  });

  test("of a customer whose review escalates", async () => {
    expect(await drawn("onboarding", "signup-wayne")).toMatchInlineSnapshot(`
      "
      onboarding signup-wayne  succeeded in 8 d  since 2027-01-15 08:00:00 UTC

                            0                  2 d                4 d                6 d              8 d
                            ├──────────────────┼──────────────────┼──────────────────┼──────────────────┼
      open          step   ✔ 0 ms
      invite        step   ✔ 0 ms
      verified      signal ◆ 0 ms
      remind        step   · skipped
      verified-late signal · skipped
      review        gate   █████████⧗ nobody decided in time
      escalation    gate            ✔ by lucius
      provision     step            ✔ 0 ms
      settle-in     sleep       7 d ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄◆
      survey        step                                                                          0 ms ✔
      decided       signal          ◆ 0 ms
      suspend       step            · skipped

      █✔ done   █⧗ timed out   · skipped   ┄◆ arrived   ┄✔ approved
      "
    `);
  });

  test("of a customer who withdraws", async () => {
    expect(await drawn("onboarding", "signup-massive")).toMatchInlineSnapshot(`
      "
      onboarding signup-massive  cancelled in 0 ms  since 2027-01-15 08:00:00 UTC

                      0                                                                              1 ms
                      ├─────────────────────────────────────────────────────────────────────────────────┼
      open      step ✔ 0 ms
      invite    step ✔ 0 ms
      open.undo undo ✔ 0 ms

      █✔ done
      "
    `);
  });
});
