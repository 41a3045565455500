import { request } from "node:http";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Dev, startDev } from "../../functions/dev.ts";
import { signal, workflow } from "../../lib/index.ts";
import { createRecordingLog, createRecordingMetrics } from "../../lib/testing/recording.ts";

const word = v.object({ note: v.string() });
const patient = workflow("patient", { input: v.object({ n: v.number() }) }, (flow, input) => ({
  n: input.n,
  note: flow.signal(signal("go", word)).note,
}));

/** A request with headers that `fetch` would not let through. */
function raw(url: string, headers: Record<string, string>, body = ""): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

describe("the API of the embedded stack, over the wire", () => {
  let dev: Dev;
  beforeAll(async () => {
    dev = await startDev({ workflows: [patient], log: createRecordingLog(), metrics: createRecordingMetrics() });
  });
  afterAll(() => dev.stack.stop());

  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(dev.apiUrl + path, {
      method,
      headers: { "Content-Type": "application/json", ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, etag: response.headers.get("ETag"), json: text ? JSON.parse(text) : undefined };
  };

  it("is healthy, starts a run, takes its signal and shows what it came to", async () => {
    expect(await call("GET", "/health")).toMatchObject({ status: 200, json: { table: "answers" } });
    const made = await call("POST", "/runs", { workflow: "patient", runId: "o-1", input: { n: 1 } });
    expect(made.status).toBe(201);
    expect(await call("GET", "/runs/o-1", undefined, { "If-None-Match": made.etag ?? "" })).toMatchObject({
      status: 304,
      etag: made.etag,
      json: undefined,
    });
    expect((await call("POST", "/runs/o-1/signals/go", { payload: { note: "hi" } })).status).toBe(202);
    await expect
      .poll(async () => (await call("GET", "/runs/o-1")).json, { timeout: 20_000 })
      .toMatchObject({
        status: "succeeded",
        output: { n: 1, note: "hi" },
      });
    expect((await call("GET", "/runs/o-2?x=1")).json).toMatchObject({ code: "run-not-found" });
  });

  it("refuses a body that is too big while it is still being sent", async () => {
    const refused = await call("POST", "/runs", { workflow: "patient", input: "x".repeat(2_100_000) });
    expect(refused).toMatchObject({ status: 413, json: { code: "body-too-big" } });
  });

  it("turns away what a web page sends, or what comes by another name", async () => {
    const { host } = new URL(dev.apiUrl);
    const run = JSON.stringify({ workflow: "patient", runId: "page", input: { n: 1 } });
    expect(await raw(`${dev.apiUrl}/runs`, { host, origin: "https://evil.example" }, run)).toBe(403);
    expect(await raw(`${dev.apiUrl}/runs`, { host, origin: "null" }, run)).toBe(403);
    expect(await raw(`${dev.apiUrl}/runs`, { host: "evil.example" }, run)).toBe(403);
    expect((await call("GET", "/runs/page")).status).toBe(404);
    expect(await raw(`${dev.apiUrl}/runs`, { host, origin: dev.apiUrl }, run)).toBe(201);
  });
});
