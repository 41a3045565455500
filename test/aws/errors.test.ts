import { describe, expect, test } from "vitest";
import { classify, toFault } from "../../lib/aws/errors.ts";

const cancelled = (...codes: readonly string[]) => ({
  name: "TransactionCanceledException",
  CancellationReasons: codes.map((Code) => ({ Code })),
});

const table: readonly (readonly [error: object, kind: ReturnType<typeof classify>])[] = [
  [{ name: "ConditionalCheckFailedException" }, "conflict"],
  [{ name: "TransactionConflictException" }, "conflict"],
  [cancelled("None", "TransactionConflict"), "conflict"],
  [cancelled("ConditionalCheckFailed", "None"), "conflict"],
  [cancelled("ConditionalCheckFailed", "ValidationError"), "permanent"],
  [cancelled("ConditionalCheckFailed", "ThrottlingError"), "throttled"],
  [cancelled("ConditionalCheckFailed", "Unheard-of"), "transient"],
  [cancelled("ThrottlingError", "ValidationError"), "permanent"],
  [cancelled("ThrottlingError", "Unheard-of"), "transient"],
  [cancelled("Unheard-of", "AccessDenied"), "denied"],
  [cancelled(), "transient"],
  [{ name: "TransactionInProgressException" }, "transient"],
  [{ name: "ProvisionedThroughputExceededException" }, "throttled"],
  [{ name: "ThrottlingException" }, "throttled"],
  [{ name: "Odd", $metadata: { httpStatusCode: 429 } }, "throttled"],
  [{ name: "InternalServerError", $metadata: { httpStatusCode: 500 } }, "transient"],
  [{ name: "TimeoutError", code: "ETIMEDOUT" }, "transient"],
  [{ name: "Error", code: "ECONNRESET" }, "transient"],
  [{ name: "Error", code: "ECONNREFUSED" }, "unsent"],
  [{ name: "ValidationException" }, "permanent"],
  [{ name: "AccessDeniedException" }, "denied"],
  [{ name: "ResourceNotFoundException" }, "denied"],
  [{ name: "QueueDoesNotExist" }, "denied"],
  [{ name: "AWS.SimpleQueueService.QueueDoesNotExist" }, "denied"],
  [{ name: "NeverSeenBefore", $metadata: { httpStatusCode: 400 } }, "transient"],
  [new TypeError("a defect"), "transient"],
];

describe("the classes of errors", () => {
  test.each(table)("%o is %s (D4)", (error, kind) => {
    expect(classify(error)).toBe(kind);
  });

  test("do not depend on any text (D5)", () => {
    for (const [error, kind] of table) {
      const shouted = Object.assign(Object.create(error), { message: "THE CONDITIONAL REQUEST FAILED (request 17)" });
      expect(classify({ ...error, message: shouted.message })).toBe(kind);
    }
  });

  test("become faults that keep name and text, cut to what is stored", () => {
    const denied = toFault(
      { name: "AccessDeniedException", message: `no dynamodb:PutItem ${"x".repeat(2000)}` },
      "Writing X",
    );
    expect(denied.code).toBe("denied");
    expect(denied.message).toMatch(/^Writing X: AccessDeniedException: no dynamodb:PutItem x/);
    expect(denied.message).toHaveLength(1024);
    expect(toFault("not even an object", "Doing").code).toBe("unavailable");
  });
});
