/**
 * Every fault that a person or a program can meet, in one table: the HTTP status it maps to, whether the engine tries again by
 * itself, and what happens next. The documentation anchor of a fault is its code.
 */
export const faults = {
  // a person's or a program's call
  "bad-input": { status: 400, isRetried: false, next: "Nothing was stored. Mend the input and call again." },
  "bad-definition": {
    status: 400,
    isRetried: false,
    next: "Nothing was stored. Mend the workflow; all its faults are listed.",
  },
  "bad-envelope": {
    status: 400,
    isRetried: false,
    next: "The message went to the dead-letter queue with this reason.",
  },
  "newer-format": {
    status: 409,
    isRetried: true,
    next: "Handed back with a delay until every function runs the new version.",
  },
  "unknown-workflow": {
    status: 404,
    isRetried: false,
    next: "Nothing was stored. Register the workflow with this process.",
  },
  "unknown-handler": {
    status: 409,
    isRetried: false,
    next: "The node is parked, no try is burnt; a deploy with the handler wakes it.",
  },
  "unknown-definition": {
    status: 404,
    isRetried: true,
    next: "The run is parked until a deploy brings the definition.",
  },
  "run-not-found": { status: 404, isRetried: false, next: "Nothing was stored." },
  "run-conflict": {
    status: 409,
    isRetried: false,
    next: "The existing run is untouched. Use another run id, or the same input.",
  },
  "run-ended": { status: 409, isRetried: false, next: "The run has ended and stays as it is." },
  "run-live": { status: 409, isRetried: false, next: "The run is live: cancel or terminate it first." },
  "gate-not-open": { status: 409, isRetried: false, next: "Nobody waits for this decision." },
  "gate-decided": { status: 409, isRetried: false, next: "The first decision stands; it is in the answer." },
  "mailbox-full": { status: 429, isRetried: false, next: "Nothing was stored. Try again after the time given." },
  // a request to the API
  "bad-request": { status: 400, isRetried: false, next: "Nothing was stored. Mend the request and send it again." },
  unauthenticated: { status: 401, isRetried: false, next: "Nothing was looked at. Sign the request, or send a token." },
  "no-tenant": {
    status: 403,
    isRetried: false,
    next: "Nothing was looked at. The token must say, in the configured claim, whose runs it is for.",
  },
  "no-route": { status: 404, isRetried: false, next: "Nothing was looked at. The API has no such address." },
  "method-not-allowed": { status: 405, isRetried: false, next: "Nothing was looked at. Allow names the methods." },
  "precondition-failed": {
    status: 412,
    isRetried: false,
    next: "Nothing was stored. Read the current state, decide on it, and send its entity tag.",
  },
  "body-too-big": { status: 413, isRetried: false, next: "Nothing was stored. Pass a reference to big data instead." },
  "not-json": { status: 415, isRetried: false, next: "Nothing was stored. Send JSON, with its Content-Type." },
  defect: {
    status: 500,
    isRetried: false,
    next: "It was logged. Whether it was done is not known: look before repeating.",
  },
  // an attempt
  "handler-failed": { status: 500, isRetried: true, next: "The retry policy decides." },
  fatal: { status: 500, isRetried: false, next: "The handler said that trying again is useless: the node fails." },
  "timed-out": { status: 504, isRetried: true, next: "The retry policy decides." },
  lost: { status: 500, isRetried: true, next: "The worker vanished; the retry policy decides." },
  cancelled: { status: 409, isRetried: false, next: "The attempt was closed before it began." },
  "never-claimed": { status: 504, isRetried: false, next: "No worker ever took the task: the node fails." },
  "bad-output": { status: 500, isRetried: true, next: "The handler's result does not fit; the retry policy decides." },
  "payload-too-big": {
    status: 413,
    isRetried: false,
    next: "Store the value yourself and pass a reference, or configure a payload bucket.",
  },
  "missing-value": { status: 500, isRetried: false, next: "The node that needs the value fails." },
  "not-comparable": { status: 500, isRetried: false, next: "The node that compares the values fails." },
  "fact-too-big": { status: 500, isRetried: false, next: "The node fails: what control flow compares must be short." },
  "no-case": { status: 500, isRetried: false, next: "The node that chooses fails." },
  "item-failures": {
    status: 500,
    isRetried: false,
    next: "More items of the map failed than it tolerates: the map fails.",
  },
  "attempt-ended": { status: 409, isRetried: false, next: "Nothing was stored: the attempt has ended before." },
  "repeat-limit": { status: 504, isRetried: false, next: "The condition never held: the node fails." },
  rejected: { status: 409, isRetried: false, next: "A person said no: the node fails." },
  "child-failed": { status: 500, isRetried: false, next: "The node fails as its child run did." },
  // a run
  deadline: { status: 504, isRetried: false, next: "The run reached its deadline and was failed." },
  budget: { status: 500, isRetried: false, next: "The run used up one of its budgets and was failed." },
  "row-too-big": { status: 500, isRetried: false, next: "The run was failed with a row that fits." },
  livelock: {
    status: 500,
    isRetried: false,
    next: "The run was force-failed: its commits were refused without progress.",
  },
  stuck: {
    status: 500,
    isRetried: false,
    next: "The run was force-failed: processing it began and did not end, again and again.",
  },
  "bad-row": { status: 500, isRetried: false, next: "The row cannot be read; strikes are counted." },
  // the platform
  throttled: { status: 503, isRetried: true, next: "Handed back; tried again." },
  unavailable: { status: 503, isRetried: true, next: "Handed back; tried again." },
  denied: { status: 503, isRetried: true, next: "Handed back; grant the permission that it names." },
  refused: { status: 500, isRetried: false, next: "The store refused the request as invalid: a strike is counted." },
} as const satisfies Record<string, { readonly status: number; readonly isRetried: boolean; readonly next: string }>;

/** Every code that a fault may have. */
export type FaultCode = keyof typeof faults;

/** A fault as it is stored and sent: one code of the table and one sentence. */
export interface FaultData {
  readonly code: FaultCode;
  /** What happened, to whom, and what to do; at most 1,024 characters are kept. */
  readonly message: string;
}

/** The one error class of the engine. A fault is thrown where a promise is broken; expected outcomes are values. */
export class Fault extends Error {
  readonly code: FaultCode;
  /** More to show or to decide by: sizes, limits, the winner of a race. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: FaultCode,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "Fault";
    this.code = code;
    this.details = details;
  }

  /** Tells faults from other errors, also across two copies of the package. With a code: this very fault. */
  static is(value: unknown, code?: FaultCode): value is Fault {
    if (!(value instanceof Error) || value.name !== "Fault" || !("code" in value)) return false;
    return code === undefined || value.code === code;
  }

  get data(): FaultData {
    return { code: this.code, message: this.message };
  }
}
