import { Fault, type FaultCode, faults } from "../core/faults.ts";
import { exchange } from "../core/limits.ts";
import type { HttpResponse } from "../ports/exchange.ts";

/** What of a fault's details a caller is shown; the rest is for logs. */
const shown = ["status", "winner"] as const;

const unknownOutcome =
  "Whether it was done is not known. Repeat it after the time given: with the same id that is safe.";

/**
 * The one place where faults become answers: RFC 9457. The sentence of a fault of the platform, or of the engine itself, may name
 * services and records, so those are logged and not shown. What is thrown that is no fault is a `defect`.
 */
export function problemOf(error: unknown): HttpResponse {
  const fault = Fault.is(error) ? error : new Fault("defect", "the request could not be processed");
  const { status, next } = faults[fault.code];
  const isOurs = status >= 500;
  const retryAfterS = retryAfterOf(fault, status);
  const problem = {
    type: `urn:tickwright:fault:${fault.code}`,
    title: titleOf(fault.code),
    status,
    code: fault.code,
    detail: isOurs ? ownDetail(status) : fault.message,
    next: status === 503 ? unknownOutcome : next,
    ...Object.fromEntries(
      shown.flatMap((name) => (fault.details[name] === undefined ? [] : [[detailName(name), fault.details[name]]])),
    ),
  };
  return {
    status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store, no-transform",
      ...(retryAfterS !== undefined && { "retry-after": String(retryAfterS) }),
      ...(typeof fault.details["allow"] === "string" && { allow: fault.details["allow"] }),
    },
    body: JSON.stringify(problem),
  };
}

/** `status` is the problem's own word for the HTTP status. */
const detailName = (name: (typeof shown)[number]) => (name === "status" ? "runStatus" : name);

const ownDetail = (status: number) =>
  status === 503 ? "a service that is needed did not answer" : "the request could not be processed";

/** `run-conflict`: "Run conflict". */
function titleOf(code: FaultCode): string {
  const words = code.replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function retryAfterOf(fault: Fault, status: number): number | undefined {
  const given = fault.details["retryAfterS"];
  if (typeof given === "number") return given;
  return status === 503 || status === 429 ? exchange.retryAfterS : undefined;
}
