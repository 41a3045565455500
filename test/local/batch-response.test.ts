import { describe, expect, it } from "vitest";
import { judge } from "../../lib/local/batch-response.ts";

const ids = ["m1", "m2"];
const circular: { self?: unknown } = {};
circular.self = circular;

describe("a function's answer to a batch (L3, E2)", () => {
  it.each([
    ["nothing", undefined],
    ["null", null],
    ["an empty object", {}],
    ["a null list", { batchItemFailures: null }],
    ["an empty list", { batchItemFailures: [] }],
  ])("is success of all when it is %s", (_name, answer) => {
    expect(judge(answer, ids)).toEqual({ kind: "partial", failed: new Set() });
  });

  it("keeps exactly the messages that it names", () => {
    const answer = { batchItemFailures: [{ itemIdentifier: "m2" }] };
    expect(judge(answer, ids)).toEqual({ kind: "partial", failed: new Set(["m2"]) });
  });

  it.each([
    ["an unknown id", { batchItemFailures: [{ itemIdentifier: "m3" }] }],
    ["an empty id", { batchItemFailures: [{ itemIdentifier: "" }] }],
    ["a null id", { batchItemFailures: [{ itemIdentifier: null }] }],
    ["a misspelt key", { batchItemFailures: [{ itemIdentifer: "m1" }] }],
    ["an entry that is null", { batchItemFailures: [null] }],
    ["a list that is none", { batchItemFailures: "m1" }],
    ["a bare text", "m1"],
    ["no JSON", circular],
  ])("is failure of all when it has %s", (_name, answer) => {
    expect(judge(answer, ids)).toMatchObject({ kind: "failure" });
  });
});
