import type { Json } from "./json.ts";

/**
 * A value with holes: plain JSON in which `{ "$": [...] }` stands for something that is known only in the run.
 *
 * | form | means |
 * |---|---|
 * | `{ "$": ["ref", source, ...path] }` | a (sub)value; `source` is `"$input"`, `"$item"`, `"$index"` (both inside a map), `"$last"` (inside a repeat), or a node's name |
 * | `{ "$": [operator, ...operands] }` | an operator of `expression.ts`; operands are expressions |
 * | `{ "$": ["quote", json] }` | a constant, taken as it is (needed only for a constant that holds a key `$`) |
 *
 * Object properties and array items are expressions in turn.
 */
export type Expr = Json;

/** What the tick needs to know of a retry: it is pure, so the policy lives in the definition. */
export interface RetryPolicy {
  /** How often the step may be tried, the first time included; at least 1. */
  readonly attempts: number;
  /** Pause before the second attempt. */
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** Each pause is the last one times this; at least 1. */
  readonly factor: number;
  /** The share (0 to 1) of a pause that is left to chance: 1 is full jitter, 0 none. */
  readonly jitter: number;
}

/** The part of a node that a worker carries out: which handler, in which worker group, under which policy. */
export interface WorkBody {
  /** `name@version`: how a deploy finds the function. */
  readonly handler: string;
  /** The worker group; its function has its own role, memory, time-out, network and task queue. */
  readonly group: string;
  readonly input: Expr;
  readonly retry: RetryPolicy;
  /** Longest duration of one attempt. */
  readonly timeoutMs: number;
  /** If the handler calls `ctx.heartbeat()`: the longest pause between two of them. Shortens the lease. */
  readonly heartbeatMs?: number;
  /** Longest wait between dispatch and claim; absent: a backlog is no reason to fail. */
  readonly startWithinMs?: number;
  /** Runs in its group's worker, commit by commit, without a queue hop. */
  readonly isInline?: boolean;
  /** May share a commit with its inline neighbours, as running it twice does no harm. */
  readonly isRepeatable?: boolean;
}

export interface StepBody extends WorkBody {
  readonly kind: "step";
}

/** The part of a node that another run carries out. */
export interface ChildBody {
  readonly kind: "child";
  readonly workflow: string;
  /** Hash of the child's definition, pinned as the parent's own is; `"self"` for a workflow that starts itself. */
  readonly definition: string;
  readonly input: Expr;
}

interface NodeCommon {
  /** Unique in its definition, `[A-Za-z0-9._-]{1,64}`. */
  readonly name: string;
  /** Nodes that must have ended before this one starts, beside those whose output it reads. A skipped one has ended. */
  readonly after?: readonly string[];
  /** Runs only if this is true once everything it reads has ended; otherwise the node is skipped. */
  readonly when?: Expr;
  /** `"continue"`: a failure does not fail the run; dependents see an outcome `{ ok, value } | { ok, error }`. */
  readonly onFailure?: "continue";
  /** Of the nodes of one group the first that is done wins: the others are skipped, and what they began is cancelled. One that failed has not won. */
  readonly oneOf?: string;
  /**
   * Set on the hidden nodes at the end: the name of the node that this one undoes. Its own references to that node yield the plain
   * output, whatever `onFailure` makes of it for others; of a map the list of the outputs of the items that succeeded, whatever
   * `tolerate` says, and also if the map failed.
   */
  readonly compensates?: string;
}

export interface StepNode extends NodeCommon, StepBody {}
export interface ChildNode extends NodeCommon, ChildBody {}

/** One attempt per item; the output is the list of the items' outputs, or of their outcomes once failures are tolerated. */
export interface MapNode extends NodeCommon {
  readonly kind: "map";
  /** Yields a list. Reads one source at most, so that whoever holds it can write the items down in pages. */
  readonly items: Expr;
  /** Its input may read `$item` and `$index`. */
  readonly body: StepBody | ChildBody;
  /** Items in flight at once; above what a row holds, `slices.ts` cuts the map into runs of the engine's own. */
  readonly concurrency: number;
  /** Failed items that the map survives: a number, or a share (0 to 1) of all. Absent: none. */
  readonly tolerate?: { readonly count: number } | { readonly share: number };
}

/** Waits for a time, or until an instant from data: ISO 8601 text with a zone, or epoch milliseconds. */
export interface SleepNode extends NodeCommon {
  readonly kind: "sleep";
  readonly forMs?: number;
  readonly until?: Expr;
}

/**
 * Runs its step again and again until a condition over its last output holds. Its input may read `$last`, the output before,
 * missing at first; its own output is the last one. An iteration is an item: it has its own attempts, and retries.
 */
export interface RepeatNode extends NodeCommon, WorkBody {
  readonly kind: "repeat";
  /** Reads the node's own output and nothing else. */
  readonly until: Expr;
  /** Iterations at most; then the node fails as `repeat-limit`. */
  readonly limit: number;
  /** Pause before the second iteration; each later one is the last times `factor`, up to `longestMs`. */
  readonly everyMs: number;
  readonly factor: number;
  readonly longestMs: number;
}

/**
 * Something outside does the work: the handler begins it and hands over `context.token`; whoever holds that completes, fails, or
 * prolongs the attempt. The output is what it was completed with.
 */
export interface ExternalNode extends NodeCommon, WorkBody {
  readonly kind: "external";
  /** From the handler's return to the completion. */
  readonly completeWithinMs: number;
  /** Longest pause between two heartbeats from outside; absent: none are expected. */
  readonly beatMs?: number;
}

/** Waits for a signal of this name; its output is the payload. */
export interface SignalNode extends NodeCommon {
  readonly kind: "signal";
  readonly signal: string;
  readonly timeoutMs?: number;
  /** `"continue"`: no output after a time-out; absent: the node fails. */
  readonly onTimeout?: "continue";
}

/** Waits for a person; its output is the decision `{ approved, by?, comment?, data?, timedOut? }`. */
export interface GateNode extends NodeCommon {
  readonly kind: "gate";
  /** What the person is shown. */
  readonly about?: Expr;
  readonly timeoutMs?: number;
  /** What a time-out decides; absent: the node fails. `"continue"` passes on `{ approved: false, timedOut: true }`. */
  readonly onTimeout?: "approve" | "reject" | "continue";
  /** `"continue"`: a rejection is data; absent: the node fails. */
  readonly onReject?: "continue";
}

export type NodeDef = StepNode | MapNode | SleepNode | SignalNode | GateNode | ChildNode | RepeatNode | ExternalNode;

/**
 * A workflow as data: canonical JSON, addressed by its hash. Positions in `nodes` are what rows and record keys hold, so the
 * order never changes. Compensations are nodes too: hidden ones, behind all others.
 */
export interface Definition {
  readonly format: 1;
  readonly workflow: string;
  readonly nodes: readonly NodeDef[];
  /** What the run yields; may read the input and every node. */
  readonly output?: Expr;
  /** Only in what the engine derives itself, and nobody else may write: a slice of a map this wide, undone as a whole or not. */
  readonly sliceOf?: { readonly concurrency: number; readonly isUndone?: true };
}
