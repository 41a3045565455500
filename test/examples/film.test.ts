import { afterEach, describe, expect, it } from "vitest";
import { farm } from "../../examples/film/steps.ts";
import { film } from "../../examples/film/workflow.ts";
import { signal } from "../../lib/engine/commands.ts";
import { decide } from "../../lib/engine/decide.ts";
import { beat, complete, fail } from "../../lib/engine/external.ts";
import { hour, minute, tell } from "../engine/story.ts";

const { accept } = farm;
afterEach(() => Object.assign(farm, { accept }));
const url = "https://films.test/1";

/** The film of this source, up to where the farm has it. */
async function atTheFarm(input: object = {}) {
  const tokens: string[] = [];
  farm.accept = async ({ token }) => void tokens.push(token);
  const story = tell(film);
  await story.begin({ filmId: "f1", source: { kind: "link", url: "https://x.test" }, ...input });
  await story.world.until(() => tokens.length > 0);
  return { story, tokens, render: () => complete(story.engine, tokens.at(-1) ?? "", { url, seconds: 60 }) };
}

describe("the film", () => {
  it("asks for the scan again and again, each time later, and lives on by the farm's heartbeats", async () => {
    const { story, tokens, render } = await atTheFarm({ source: { kind: "upload", uploadId: "u1" } });
    const { createdAtMs } = await story.run();
    expect(story.world.clock.nowMs() - createdAtMs).toBe((30 + 60 + 120) * 1000);
    for (let at = 0; at < 40; at++) {
      await story.world.advance(9 * minute);
      await beat(story.engine, tokens[0] ?? "");
    }
    await render();
    expect(tokens).toHaveLength(1);
    expect((await story.end()).output).toEqual({ filmId: "f1", at: "films/f1", why: "nobody objected" });
  });

  it("is rendered anew when the farm falls silent", async () => {
    const { story, tokens, render } = await atTheFarm();
    await story.world.until(() => tokens.length === 2, hour);
    await render();
    expect((await story.end()).status).toBe("succeeded");
  });

  it("is published on its day", async () => {
    const { story, render } = await atTheFarm({ publishAt: "2030-01-01T00:00:00Z" });
    await render();
    await story.world.until(async () => (await story.inFlight()).includes("review"));
    await decide(story.engine, story.ref, { gate: "review", approved: true });
    await story.world.advance(hour);
    expect(await story.inFlight()).toEqual(["day"]);
  });

  it("is removed when a person says no", async () => {
    const { story, render } = await atTheFarm();
    await render();
    await story.world.until(async () => (await story.inFlight()).includes("review"));
    await decide(story.engine, story.ref, { gate: "review", approved: false });
    expect((await story.end()).output).toEqual({ filmId: "f1", why: "the review" });
  });

  it("is removed when its author takes it back", async () => {
    const { story, render } = await atTheFarm();
    await render();
    await signal(story.engine, story.ref, { signal: "withdrawn", payload: { why: "a typo" } });
    expect((await story.end()).output).toEqual({ filmId: "f1", why: "a typo" });
  });

  it("fails when the farm says that it is useless", async () => {
    const { story, tokens } = await atTheFarm();
    await fail(story.engine, tokens[0] ?? "", { message: "broken", isFatal: true });
    expect(await story.end()).toMatchObject({ status: "failed", message: "render: broken" });
  });
});
