import { describe, expect, it } from "vitest";
import { fixed } from "../../lib/core/limits.ts";
import { terminate } from "../../lib/engine/commands.ts";
import { stage } from "./stage.ts";

const ref = { tenant: "default", runId: "o-1" };
const go = "/runs/o-1/signals/go";
const word = { payload: { note: "hi" } };

describe("a signal by HTTP", () => {
  it("is acknowledged with its number, and wakes the run", async () => {
    const { begin, call, statusOf, world } = stage();
    await begin("o-1");
    expect(await call("POST", go, { body: word })).toMatchObject({ status: 202, json: { seq: 0, isRepeat: false } });
    await world.until(async () => (await statusOf("o-1")) === "succeeded", 60_000);
  });

  it("sent again with the same id gets the old number, and is one signal", async () => {
    const { begin, call } = stage();
    await begin("o-1");
    const send = (id: string) => call("POST", go, { body: { ...word, id } });
    expect((await send("a")).json).toEqual({ seq: 0, isRepeat: false });
    expect((await send("a")).json).toEqual({ seq: 0, isRepeat: true });
    expect((await send("b")).json).toEqual({ seq: 1, isRepeat: false });
  });

  it("of a name or a payload that the workflow does not know is refused in words", async () => {
    const { begin, call } = stage();
    await begin("o-1");
    const unknown = await call("POST", "/runs/o-1/signals/stop", { body: word });
    expect(unknown).toMatchObject({ status: 400, json: { code: "bad-input" } });
    expect(unknown.json.detail).toContain("it waits for go");
    const misfit = await call("POST", go, { body: { payload: { note: 7 } } });
    expect(misfit.json.detail).toContain("payload.note");
  });

  it("finds nobody at an address without a run, and no room where 32 wait: then it says when to try again", async () => {
    const { begin, call } = stage();
    expect(await call("POST", go, { body: word })).toMatchObject({ status: 404, json: { code: "run-not-found" } });
    await begin("o-1");
    for (let n = 0; n < fixed.mailboxSignalsMax; n++) expect((await call("POST", go, { body: word })).status).toBe(202);
    const full = await call("POST", go, { body: word });
    expect(full).toMatchObject({ status: 429, json: { code: "mailbox-full" }, headers: { "retry-after": "1" } });
  });

  it("is refused with 409 once the run has ended, whatever the precondition", async () => {
    const { begin, call, statusOf, world } = stage();
    await begin("o-1");
    await terminate(world.engine, ref, "ann");
    await world.until(async () => (await statusOf("o-1")) === "terminated", 60_000);
    expect(await call("POST", go, { body: word })).toMatchObject({
      status: 409,
      json: { code: "run-ended", runStatus: "terminated" },
    });
  });

  it("is guarded by no version: with If-Match it is refused, and not sent (H6)", async () => {
    const { begin, call } = stage();
    const etag = (await begin("o-1")).headers["etag"] ?? "";
    for (const tag of [etag, '"x"', "*"]) {
      const refused = await call("POST", go, { body: word, headers: { "if-match": tag } });
      expect(refused).toMatchObject({ status: 412, json: { code: "precondition-failed" } });
      expect(refused.json.detail).toContain("leave If-Match out");
    }
    expect((await call("POST", go, { body: word, headers: { "if-match": etag.slice(1) } })).status).toBe(400);
    expect((await call("POST", go, { body: word })).json.seq).toBe(0);
  });
});
