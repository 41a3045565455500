import { expect, test } from "vitest";
import { workflow } from "../../lib/index.ts";
import { crash, createStage, input, isEnd, plus } from "./stage.ts";

/** A step that kills its worker whenever it is run. */
function killer(extra: object) {
  const ran: number[] = [];
  const step = plus("kill", { timeout: "30s", ...extra }, (n) => {
    ran.push(n);
    return n;
  });
  const stage = createStage([workflow("one", { input }, (f, given) => f.run(step, given))]);
  stage.store.always(isEnd("ok"), crash);
  return { ran, stage };
}

test("H7: a claim is never taken over, so a step that kills its worker uses its attempts up and its run ends", async () => {
  const { ran, stage } = killer({ retry: { attempts: 2, firstDelay: "1s" } });
  await stage.begin("one");
  const { phase, reason } = await stage.toEnd();
  expect(ran).toHaveLength(2);
  expect({ phase, code: reason?.code }).toEqual({ phase: "failed", code: "lost" });
});

test("H7: a step that may run once is run once, even if its worker died of it", async () => {
  const { ran, stage } = killer({ once: true });
  await stage.begin("one");
  const { phase, reason } = await stage.toEnd();
  expect(ran).toHaveLength(1);
  expect({ phase, code: reason?.code }).toEqual({ phase: "failed", code: "lost" });
});
