import { Fault, type FaultCode } from "../core/faults.ts";

/**
 * What an SDK's error means for a caller.
 * - `conflict`: a condition was false, or a transaction holds the item: reload and compare.
 * - `throttled`: refused for the time being, certainly not applied.
 * - `unsent`: it never left this process.
 * - `transient`: a time-out, a broken connection, a 5xx, anything unknown: it may or may not have been applied.
 * - `denied`: a permission, a credential or the resource itself is missing: no fault of the request.
 * - `permanent`: the request is invalid and will be for ever.
 */
export type ErrorClass = "conflict" | "throttled" | "unsent" | "transient" | "denied" | "permanent";

const classes: { readonly [kind in ErrorClass]: readonly string[] } = {
  conflict: [
    "ConditionalCheckFailedException",
    "TransactionConflictException",
    "ConditionalCheckFailed",
    "TransactionConflict",
  ],
  throttled: [
    "ProvisionedThroughputExceededException",
    "ProvisionedThroughputExceeded",
    "ThrottlingException",
    "ThrottlingError",
    "Throttling",
    "RequestLimitExceeded",
    "TooManyRequestsException",
    "RequestThrottled",
    "RequestThrottledException",
    "ThrottledException",
    "KmsThrottled",
    "OverLimit",
    "SlowDown",
  ],
  unsent: ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"],
  transient: [
    "TransactionInProgressException",
    "InternalServerError",
    "ServiceUnavailable",
    "TimeoutError",
    "AbortError",
  ],
  denied: [
    "AccessDeniedException",
    "AccessDenied",
    "UnrecognizedClientException",
    "InvalidSignatureException",
    "SignatureDoesNotMatch",
    "InvalidClientTokenId",
    "InvalidAccessKeyId",
    "MissingAuthenticationTokenException",
    "IncompleteSignature",
    "ExpiredToken",
    "ExpiredTokenException",
    "CredentialsProviderError",
    "KmsAccessDenied",
    "KMSAccessDeniedException",
    "ResourceNotFoundException",
    "QueueDoesNotExist",
    "NoSuchBucket",
  ],
  permanent: [
    "ValidationException",
    "ValidationError",
    "SerializationException",
    "ItemCollectionSizeLimitExceededException",
    "ItemCollectionSizeLimitExceeded",
    "IdempotentParameterMismatchException",
    "UnknownOperationException",
    "InvalidMessageContents",
    "InvalidParameterValue",
    "InvalidParameterValueException",
    "MissingParameter",
    "BatchRequestTooLong",
    "UnsupportedOperation",
    "EntityTooLarge",
    "KeyTooLongError",
  ],
};
const byName = new Map(
  Object.entries(classes).flatMap(([kind, names]) => names.map((name) => [name, kind as ErrorClass])),
);

type Shape = {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly $metadata?: { readonly attempts?: number; readonly httpStatusCode?: number };
  readonly CancellationReasons?: readonly { readonly Code?: string }[];
};

/**
 * Sorts an error by its name and its structured reasons, never by its text, which services change. Of a cancelled transaction's
 * reasons a permanent one wins over a passing one, and that over a conflict. An unknown error is `transient`: tried again, bounded,
 * and never held against a run.
 */
export function classify(error: unknown): ErrorClass {
  const { name, code, $metadata, CancellationReasons: reasons } = shapeOf(error);
  if (name === "TransactionCanceledException" && reasons !== undefined) {
    const kinds = reasons
      .filter(({ Code }) => Code && Code !== "None")
      .map(({ Code }) => byName.get(Code ?? "") ?? "transient");
    const worst = (["permanent", "denied", "transient", "throttled"] as const).find((kind) => kinds.includes(kind));
    return worst ?? (kinds.length > 0 ? "conflict" : "transient");
  }
  const known = byName.get(baseName(name)) ?? byName.get(baseName(code));
  if (known !== undefined) return known;
  return $metadata?.httpStatusCode === 429 ? "throttled" : "transient";
}

/** How often the SDK asked before it gave up: more than one, and an earlier try may have been applied. */
export function attemptsOf(error: unknown): number {
  return shapeOf(error).$metadata?.attempts ?? 1;
}

/** The fault that an error is to the engine. `doing` is the sentence's beginning: "Writing STATE". */
export function toFault(error: unknown, doing: string): Fault {
  const { name, message } = shapeOf(error);
  const kind = classify(error);
  const code: FaultCode =
    kind === "permanent" ? "refused" : kind === "denied" || kind === "throttled" ? kind : "unavailable";
  return new Fault(code, `${doing}: ${String(name)}: ${String(message)}`.slice(0, 1024), {}, { cause: error });
}

function shapeOf(error: unknown): Shape {
  return typeof error === "object" && error !== null
    ? (error as Shape)
    : { name: typeof error, message: String(error) };
}

/** Some services prefix their names: `AWS.SimpleQueueService.Name`, `namespace#Name`. */
function baseName(name: unknown): string {
  return typeof name === "string" ? name.slice(Math.max(name.lastIndexOf("#"), name.lastIndexOf(".")) + 1) : "";
}
