import { describe, expect, it } from "vitest";
import { Fault, type FaultCode, faults } from "../../lib/core/faults.ts";
import { problemOf } from "../../lib/http/problem.ts";
import { stage } from "./stage.ts";

const codes = Object.keys(faults) as FaultCode[];
const aws = "Writing STATE: ConditionalCheckFailedException: The conditional request failed";

describe("a fault at the edge (H8)", () => {
  it.each(codes)("%s becomes a problem with its status, its code and what happens next", (code) => {
    const { status, headers, body } = problemOf(new Fault(code, "what happened"));
    expect(status).toBe(faults[code].status);
    expect(headers["content-type"]).toBe("application/problem+json");
    expect(headers).not.toHaveProperty("etag");
    const problem = JSON.parse(body ?? "");
    expect(problem).toMatchObject({ status, code, type: `urn:tickwright:fault:${code}` });
    for (const name of ["title", "detail", "next"]) expect(problem[name]).toMatch(/\S/);
    expect(problem.detail === "what happened").toBe(status < 500);
    expect(headers["retry-after"]).toBe([429, 503].includes(status) ? "1" : undefined);
  });

  it("shows what decided against the caller, and nothing else of what it knows", () => {
    const fault = new Fault("gate-decided", "was decided", {
      winner: { approved: true },
      partition: "t#r",
      stack: "x",
    });
    const problem = JSON.parse(problemOf(fault).body ?? "");
    expect(problem.winner).toEqual({ approved: true });
    expect(problem).not.toHaveProperty("partition");
    expect(problem).not.toHaveProperty("stack");
  });

  it("never shows the names of services, neither of a fault of the platform nor of anything that is thrown", () => {
    const thrown = Object.assign(new Error(aws), { name: "ConditionalCheckFailedException" });
    for (const error of [new Fault("unavailable", aws), new Fault("refused", aws), thrown, aws, undefined])
      expect(problemOf(error).body).not.toMatch(/ConditionalCheck|STATE|Exception/);
    expect(problemOf(thrown)).toMatchObject({ status: 500 });
  });

  it("that nobody expected is logged with the request's id, and answered as a defect", async () => {
    const broken = stage({
      store: (inner) => ({ ...inner, list: () => Promise.reject(new TypeError("no such thing")) }),
    });
    const answer = await broken.call("GET", "/runs/o-1");
    expect(answer).toMatchObject({ status: 500, json: { code: "defect" } });
    expect(JSON.stringify(answer.json)).not.toContain("no such thing");
    const [line] = broken.world.log.entries.filter(({ event }) => event === "http.failed");
    expect(line).toMatchObject({ level: "error", fields: { requestId: "request-1", code: "defect" } });
  });
});

describe("an address", () => {
  it("that is none is a 404, and a method that it does not take a 405 that names those it does", async () => {
    const { call } = stage();
    for (const path of ["/", "/run", "/runs/a/b", "/runs/o-1/signals", ""])
      expect(await call("GET", path)).toMatchObject({ status: 404, json: { code: "no-route" } });
    expect(await call("DELETE", "/runs/o-1")).toMatchObject({ status: 405, headers: { allow: "GET" } });
    expect(await call("GET", "/runs")).toMatchObject({ status: 405, headers: { allow: "POST" } });
  });

  it("with an id that can be none is a bad request, encoded or not", async () => {
    const { call } = stage();
    for (const id of ["a%23b", "a b", "x".repeat(65), "%zz", "%2E%2E%2F"])
      expect(await call("GET", `/runs/${id}`)).toMatchObject({ status: 400, json: { code: "bad-request" } });
    expect((await call("GET", "/runs/a%2Db")).json.code).toBe("run-not-found");
  });

  it("answers HEAD as GET, without the body", async () => {
    const { begin, call } = stage();
    await begin("o-1");
    const [head, get] = [await call("HEAD", "/runs/o-1/"), await call("GET", "/runs/o-1")];
    expect(head).toMatchObject({ status: 200, headers: get.headers, body: undefined });
  });
});

describe("health", () => {
  it("says which build answers, and that the table does", async () => {
    const { call } = stage();
    expect(await call("GET", "/health")).toMatchObject({ status: 200, json: { status: "ok", build: "build-1" } });
  });

  it("is a 503 while the table does not answer, and says no more than that", async () => {
    const { call } = stage({ storeHooks: { before: () => ({ kind: "fail", fault: new Fault("throttled", aws) }) } });
    const answer = await call("GET", "/health");
    expect(answer).toMatchObject({ status: 503, json: { code: "throttled" } });
    expect(answer.body).not.toContain("ConditionalCheck");
  });
});
