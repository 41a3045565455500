import { readFile } from "node:fs/promises";
import * as v from "valibot";

const text = v.pipe(v.string(), v.nonEmpty());
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** When to act: once all of this holds, and then so long after. In the order of the list. */
const moment = {
  when: v.optional(
    v.strictObject({
      status: v.optional(text),
      /** A node that is in flight; one that a worker has taken; one that is done. */
      open: v.optional(text),
      running: v.optional(text),
      done: v.optional(text),
    }),
    {},
  ),
  afterMs: v.optional(count, 0),
  /** The fault codes of which one is the right answer. */
  refused: v.optional(v.array(text), []),
};
const by = text;

const action = v.union([
  v.strictObject({ ...moment, signal: text, payload: v.unknown() }),
  v.strictObject({ ...moment, decide: text, approved: v.boolean(), by, comment: v.optional(text) }),
  v.strictObject({ ...moment, cancel: text, by }),
  v.strictObject({ ...moment, terminate: text, by }),
  v.strictObject({ ...moment, pause: text, by }),
  v.strictObject({ ...moment, resume: text, by }),
]);

/** What the run must have come to. What is not named may be anything. */
const expectation = v.strictObject({
  status: v.picklist(["succeeded", "failed", "cancelled", "terminated"]),
  output: v.optional(v.unknown()),
  /** Code of the reason, and a part of its text. */
  reason: v.optional(text),
  message: v.optional(text),
  /** Attempts of a node, all items of a map together. */
  attempts: v.optional(v.record(text, count), {}),
  gates: v.optional(
    v.record(
      text,
      v.strictObject({ approved: v.boolean(), by: v.optional(by), timedOut: v.optional(v.literal(true)) }),
    ),
    {},
  ),
  items: v.optional(v.record(text, v.strictObject({ total: count, failed: count })), {}),
  skipped: v.optional(v.array(text)),
  /** Nodes that were undone, in that order. */
  undone: v.optional(v.array(text)),
  isUncompensated: v.optional(v.boolean(), false),
});

const entry = v.strictObject({
  runId: text,
  workflow: text,
  /** What the run shows, in a few words. */
  about: text,
  input: v.unknown(),
  do: v.optional(v.array(action), []),
  expect: expectation,
});

export type Action = v.InferOutput<typeof action>;
export type Expectation = v.InferOutput<typeof expectation>;
/** A run of an input file: what to start, what people do to it, and how it must end. */
export type PlannedRun = v.InferOutput<typeof entry>;

/** Reads an input file. Throws an `Error` that says where it does not fit. */
export async function readRunFile(file: string): Promise<readonly PlannedRun[]> {
  const raw = parsedJson(file, await readFile(file, "utf8").catch(() => undefined));
  const parsed = v.safeParse(v.array(entry), raw);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  throw new Error(`${file}: ${v.getDotPath(issue) ?? "the list"}: ${issue.message}`);
}

function parsedJson(file: string, text: string | undefined): unknown {
  if (text === undefined) throw new Error(`${file}: there is no such file, or it cannot be read.`);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${file}: this is no JSON: ${error instanceof Error ? error.message : ""}`);
  }
}
