import { describe, expect, it } from "vitest";
import { cancel, terminate } from "../../lib/engine/commands.ts";
import { findRun } from "../../lib/engine/inspect.ts";
import { stage } from "./stage.ts";

const ref = (runId: string) => ({ tenant: "default", runId });

describe("starting a run", () => {
  it("answers 201 with where it is and its version, in the body too", async () => {
    const { begin } = stage();
    const made = await begin("o-1");
    expect(made).toMatchObject({ status: 201, headers: { location: "/runs/o-1" } });
    expect(made.json).toMatchObject({ runId: "o-1", workflow: "patient", status: "running", recordVersion: 1 });
    expect(made.headers["etag"]).toBe(`"${made.json.runUid}-1"`);
  });

  it("answers 200 to the same again, and 409 to another input under the same id, which changes nothing", async () => {
    const { begin, call, world } = stage();
    const rows = () => JSON.stringify(world.store.snapshot().filter(({ sk }) => sk === "STATE"));
    const made = await begin("o-1");
    const again = await begin("o-1");
    expect(again.status).toBe(200);
    expect(again.json).toEqual(made.json);
    const before = rows();
    const other = await begin("o-1", "patient", 6);
    expect(other).toMatchObject({ status: 409, json: { code: "run-conflict", runStatus: "running" } });
    expect(
      (await call("POST", "/runs", { body: { workflow: "quick", runId: "o-1", input: { cents: 5 } } })).status,
    ).toBe(409);
    expect(rows()).toBe(before);
  });

  it("makes up an id where none is given", async () => {
    const { call } = stage();
    const made = await call("POST", "/runs", { body: { workflow: "quick", input: { cents: 1 } } });
    expect(made.headers["location"]).toBe(`/runs/${made.json.runId}`);
  });

  it("keeps who started it and its tags: from the authorizer, never from the body", async () => {
    const { call, world } = stage();
    const body = { workflow: "patient", runId: "o-1", input: { cents: 5 }, tags: { shop: "b" } };
    await call("POST", "/runs", { body });
    const input = world.store.snapshot().find(({ sk }) => sk.startsWith("IN#"));
    expect(input).toMatchObject({ actor: "arn:aws:iam::123456789012:user/ann", tags: { shop: "b" } });
    for (const name of ["tenant", "actor"]) {
      const refused = await call("POST", "/runs", { body: { ...body, runId: "o-2", [name]: "mallory" } });
      expect(refused).toMatchObject({ status: 400, json: { code: "bad-request" } });
      expect(refused.json.detail).toContain(name);
    }
  });

  it.each([
    ["no workflow", { input: {} }, 400, "bad-request", "workflow"],
    ["an id with a separator", { workflow: "quick", runId: "a#b" }, 400, "bad-request", "runId: must be 1 to 64"],
    ["an id of 65 characters", { workflow: "quick", runId: "x".repeat(65) }, 400, "bad-request", "runId"],
    ["a member that it does not know", { workflow: "quick", runID: "x" }, 400, "bad-request", "runID"],
    ["an unknown workflow", { workflow: "nope" }, 404, "unknown-workflow", "nope"],
    ["an input that does not fit", { workflow: "quick", input: { cents: "1" } }, 400, "bad-input", "input.cents"],
    [
      "too long a deadline",
      { workflow: "quick", input: { cents: 1 }, deadlineMs: 1e15 },
      400,
      "bad-input",
      "deadlineMs",
    ],
    ["an unknown tier", { workflow: "quick", tier: "turbo" }, 400, "bad-request", "tier"],
    [
      "too many tags",
      { workflow: "quick", tags: Object.fromEntries([...Array(17).keys()].map((n) => [n, "x"])) },
      400,
      "bad-request",
      "tags",
    ],
    ["a list", [], 400, "bad-request", "the body"],
  ])("with %s is refused in words, and stores nothing", async (_, body, status, code, word) => {
    const { call, world } = stage();
    const refused = await call("POST", "/runs", { body });
    expect(refused).toMatchObject({ status, json: { status, code } });
    expect(refused.json.detail).toContain(word);
    expect(world.store.snapshot()).toEqual([]);
  });

  it("refuses what is no JSON, is said to be none, is too big or nests too deep", async () => {
    const { call, world } = stage();
    const post = (text: string, type = "application/json") =>
      call("POST", "/runs", { text, headers: { "content-type": type } });
    expect(await post('{"workflow":')).toMatchObject({ status: 400, json: { code: "bad-request" } });
    expect(await post("{}", "application/x-www-form-urlencoded")).toMatchObject({
      status: 415,
      json: { code: "not-json" },
    });
    const big = JSON.stringify({ workflow: "quick", input: "x".repeat(2_000_000) });
    expect(await post(big)).toMatchObject({ status: 413, json: { code: "body-too-big" } });
    const deep = `{"workflow":"quick","input":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expect(await post(deep)).toMatchObject({ status: 400, json: { code: "bad-request" } });
    expect(world.store.snapshot()).toEqual([]);
    const fits = await post('{"workflow":"quick","input":{"cents":1},"runId":"o"}', "application/json; charset=utf-8");
    expect(fits.status).toBe(201);
  });
});

describe("a run that is asked for", () => {
  it("shows its output when it has succeeded, its reason when it has failed, and neither before", async () => {
    const { begin, call, world } = stage();
    await begin("good");
    const live = (await call("GET", "/runs/good")).json;
    expect(live).not.toHaveProperty("output");
    await call("POST", "/runs/good/signals/go", { body: { payload: { note: "hi" } } });
    await begin("bad", "quick", -1);
    await world.until(async () => (await findRun(world.engine, ref("bad")))?.phase === "failed");
    await world.until(async () => (await findRun(world.engine, ref("good")))?.phase === "succeeded");
    const good = await call("GET", "/runs/good");
    expect(good.json).toMatchObject({ status: "succeeded", output: { receipt: "r-5", note: "hi" } });
    expect(good.json.endedAtMs).toBeGreaterThanOrEqual(good.json.createdAtMs);
    const bad = await call("GET", "/runs/bad");
    expect(bad.json).toMatchObject({ status: "failed", reason: { code: "fatal" } });
    expect(bad.json).not.toHaveProperty("output");
  });

  it.each(["cancelled", "terminated"] as const)("is shown %s when somebody ended it", async (phase) => {
    const { begin, statusOf, world } = stage();
    await begin("o-1");
    await (phase === "cancelled" ? cancel : terminate)(world.engine, ref("o-1"), "ann");
    await world.until(async () => (await statusOf("o-1")) === phase, 60_000);
  });

  it("has a strong tag per version, and costs no body while the caller has it (H1)", async () => {
    const { begin, call } = stage();
    const etag = (await begin("o-1")).headers["etag"] ?? "";
    const get = (tag: string) => call("GET", "/runs/o-1", { headers: { "if-none-match": tag } });
    for (const tag of [etag, `"other", ${etag}`, "*", `W/${etag}`]) {
      const fresh = await get(tag);
      expect(fresh).toMatchObject({ status: 304, body: undefined, headers: { etag } });
      expect(fresh.headers["cache-control"]).toContain("no-transform");
    }
    for (const tag of ['"other"', `${etag.slice(0, -1)}-gzip"`]) expect((await get(tag)).status).toBe(200);
    expect(await get(etag.slice(1, -1))).toMatchObject({ status: 400, json: { code: "bad-request" } });
    await call("POST", "/runs/o-1/signals/go", { body: { payload: { note: "hi" } } });
  });

  it("keeps to If-Match as well: strong or not at all (H1)", async () => {
    const { begin, call } = stage();
    const etag = (await begin("o-1")).headers["etag"] ?? "";
    const get = (tag: string) => call("GET", "/runs/o-1", { headers: { "if-match": tag } });
    expect((await get(etag)).status).toBe(200);
    expect((await get("*")).status).toBe(200);
    const weak = await get(`W/${etag}`);
    expect(weak).toMatchObject({ status: 412, json: { code: "precondition-failed" } });
    expect(weak.json.detail).toContain("weak");
    expect((await get(`${etag.slice(0, -1)}-gzip"`)).status).toBe(412);
    expect((await get(etag.slice(1, -1))).status).toBe(400);
  });

  it("has another tag after each commit", async () => {
    const { begin, call, world } = stage();
    const etag = (await begin("o-1")).headers["etag"] ?? "";
    await call("POST", "/runs/o-1/signals/go", { body: { payload: { note: "hi" } } });
    await world.until(async () => (await findRun(world.engine, ref("o-1")))?.phase === "succeeded");
    const now = await call("GET", "/runs/o-1", { headers: { "if-none-match": etag } });
    expect(now.status).toBe(200);
    expect(now.headers["etag"]).toBe(`"${now.json.runUid}-${now.json.recordVersion}"`);
    expect(now.headers["etag"]).not.toBe(etag);
  });

  it("that is another tenant's is not there, word for word, whatever precondition is tried (H4)", async () => {
    const { call } = stage({ tenancy: { tenantClaim: "org" } });
    const of = (org: string) => ({ identity: { kind: "claims", claims: { org, sub: `ann@${org}` } } }) as const;
    const body = { workflow: "patient", runId: "o-1", input: { cents: 5 } };
    const made = await call("POST", "/runs", { body, ...of("acme") });
    const etag = made.headers["etag"] ?? "";
    const missing = await call("GET", "/runs/o-1", of("globex"));
    expect(missing.status).toBe(404);
    expect((await call("GET", "/runs/o-1", of("acme"))).status).toBe(200);
    for (const headers of [
      { "if-match": etag },
      { "if-match": '"x"' },
      { "if-none-match": etag },
      { "if-none-match": "*" },
    ]) {
      const probed = await call("GET", "/runs/o-1", { ...of("globex"), headers });
      expect(probed).toEqual(missing);
      expect(probed.headers).not.toHaveProperty("etag");
    }
    const signal = { body: { payload: { note: "x" } } };
    const poked = await call("POST", "/runs/o-1/signals/go", {
      ...of("globex"),
      ...signal,
      headers: { "if-match": etag },
    });
    expect(poked).toEqual(missing);
    // the same id is free for everybody
    expect((await call("POST", "/runs", { body, ...of("globex") })).status).toBe(201);
  });
});
