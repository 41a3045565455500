import { Fault } from "../core/faults.ts";
import { isFresh, matchEtag, parsePrecondition } from "../guard/etag.ts";
import type { HttpRequest } from "../ports/exchange.ts";

/**
 * Looks at `If-Match`, then at `If-None-Match`, for something whose current tag this is (absent: it has none, and matches nothing).
 * To be asked last: whether something is there, and whose it is, comes before (RFC 9110, 13.2.1). True: the client has it already.
 * Throws `precondition-failed`, and `bad-request` for what is no list of tags.
 */
export function isUnmodified({ headers }: HttpRequest, current: string | undefined): boolean {
  const match = parsePrecondition(headers["if-match"]);
  if (match.kind === "malformed") throw new Fault("bad-request", `If-Match: ${match.reason}`);
  if (match.kind !== "missing") {
    const result = matchEtag(match, current);
    if (result !== "match")
      throw new Fault("precondition-failed", current === undefined ? untagged : result === "weak" ? weak : stale);
  }
  const noneMatch = parsePrecondition(headers["if-none-match"]);
  if (noneMatch.kind === "malformed") throw new Fault("bad-request", `If-None-Match: ${noneMatch.reason}`);
  return current !== undefined && noneMatch.kind !== "missing" && isFresh(noneMatch, current);
}

const stale = "it has changed since the version that If-Match names";
const weak = "If-Match names a weak entity tag, which proves nothing: something on the way has weakened it";
const untagged = "what is asked for has no entity tag: leave If-Match out";
