/** What Lambda makes of a function's answer to a batch: which messages it deletes, and why it keeps the others. */
export type BatchVerdict =
  | { readonly kind: "partial"; readonly failed: ReadonlySet<string> }
  | { readonly kind: "failure"; readonly reason: string };

/**
 * Lambda's rules for `ReportBatchItemFailures`. Success of all: nothing, an empty answer, a missing, null or empty list. Failure of
 * all: an answer that is no JSON, an identifier that is missing, null, empty, misspelt, or of no message of this batch.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 */
export function judge(answer: unknown, ids: readonly string[]): BatchVerdict {
  let response: unknown;
  try {
    // The answer crosses the wire as JSON: what JSON drops, Lambda never sees.
    response = answer === undefined ? undefined : JSON.parse(JSON.stringify(answer));
  } catch {
    return { kind: "failure", reason: "the answer is no JSON" };
  }
  if (response === undefined || response === null) return { kind: "partial", failed: new Set() };
  if (typeof response !== "object") return { kind: "failure", reason: `the answer is a ${typeof response}` };
  const { batchItemFailures: list } = response as { batchItemFailures?: unknown };
  if (list === undefined || list === null) return { kind: "partial", failed: new Set() };
  if (!Array.isArray(list)) return { kind: "failure", reason: "batchItemFailures is no list" };
  const failed = new Set<string>();
  for (const entry of list as readonly unknown[]) {
    const id = (entry as { itemIdentifier?: unknown } | null)?.itemIdentifier;
    if (typeof id !== "string" || id === "") return { kind: "failure", reason: "an entry has no itemIdentifier" };
    if (!ids.includes(id)) return { kind: "failure", reason: `itemIdentifier ${id} is of no message in the batch` };
    failed.add(id);
  }
  return { kind: "partial", failed };
}
