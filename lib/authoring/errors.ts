import type { Duration } from "./duration.ts";

/**
 * Thrown by a handler: trying again is useless. The node fails at once, whatever its retry policy says, and the message becomes
 * the node's fault.
 */
export class FatalError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "FatalError";
  }

  /** Also across two copies of the package. */
  static is(value: unknown): value is FatalError {
    return value instanceof Error && value.name === "FatalError";
  }
}

/**
 * Thrown by a handler that knows when to try again, for instance from a `Retry-After` header. It counts as a try like any other
 * error, and replaces the pause of the retry policy.
 */
export class RetryableError extends Error {
  readonly after: Duration;

  constructor(message: string, options: ErrorOptions & { readonly after: Duration }) {
    super(message, options);
    this.name = "RetryableError";
    this.after = options.after;
  }

  /** Also across two copies of the package. */
  static is(value: unknown): value is RetryableError {
    return value instanceof Error && value.name === "RetryableError" && "after" in value;
  }
}
