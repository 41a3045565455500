import * as v from "valibot";
import { expect, test } from "vitest";
import { step, workflow } from "../../lib/index.ts";
import type { StoreCall } from "../../lib/testing/memory-store.ts";
import { crash, createStage, isCommit, tasks } from "../protocol/stage.ts";

/** Outputs that wait on the row are spilled to a page of their own, before the commit that needs their room. */
const input = v.object({ n: v.number() });
const output = v.object({ text: v.string() });
const length = 12;

/** A chain of inline steps whose outputs need several pages; `charsOf` says how long one is, by step and try. */
function chain(charsOf: (at: number, attempt: number) => number) {
  const steps = Array.from({ length }, (_, at) =>
    step(`s${at}`, { input, output, inline: true, timeout: "60s" }, (_input, { attempt }) => ({
      text: `${at}.${attempt} `.padEnd(charsOf(at, attempt), "x"),
    })),
  );
  return workflow("chain", { input }, (flow, given) => {
    const texts = flow.series((series) => steps.map((each) => series.run(each, given).text));
    return { texts };
  });
}

const isPage = (call: StoreCall) =>
  call.op === "write" && call.write.kind === "put" && /^OUT#.*#P#/.test(call.write.key.sk);

/** Which try of each step the run yields. */
const triesIn = (result: { readonly output: unknown }) =>
  (result.output as { texts: (string | null)[] }).texts.map((text) => text?.split(" ")[0]);

const firstTries = Array.from({ length }, (_, at) => `${at}.1`);

/** The step in flight when the function dies right after it wrote its first page, before the commit that says so. */
async function diesAfterPage(stage: ReturnType<typeof createStage>): Promise<number> {
  let pages = 0;
  stage.store.once((call) => {
    if (isPage(call)) pages += 1;
    return pages > 0 && isCommit(call);
  }, crash);
  void stage.work(stage.only(tasks));
  await stage.settle();
  expect(pages, "pages written").toBe(1);
  return stage.run().active[0]?.node ?? -1;
}

test("a page that may not have been stored is no page: what it holds stays on the row", async () => {
  const stage = createStage([chain(() => 200)]);
  await stage.begin("chain");
  stage.store.once(isPage, { kind: "lose-request" });
  await stage.drive(stage.work(stage.only(tasks)));
  const result = await stage.toEnd();
  expect(result.phase).toBe("succeeded");
  expect(triesIn(result)).toEqual(firstTries.map((_, at) => expect.stringMatching(`^${at}\\.`)));
});

test("a page holds only what is committed: a try whose commit never came leaves nothing on it", async () => {
  const stage = createStage([chain(() => 200)]);
  await stage.begin("chain");
  const at = await diesAfterPage(stage);
  const result = await stage.toEnd();
  expect(triesIn(result)).toEqual(firstTries.map((text, each) => (each === at ? `${at}.2` : text)));
});

test("a page that somebody else wrote counts with what it holds: what came after it stays on the row", async () => {
  const lengths = (at: number, attempt: number) => (attempt === 2 ? 8 : 200 + at);
  const stage = createStage([chain(lengths)]);
  await stage.begin("chain");
  const at = await diesAfterPage(stage);
  const result = await stage.toEnd();
  expect(triesIn(result)).toEqual(firstTries.map((text, each) => (each === at ? `${at}.2` : text)));
});
