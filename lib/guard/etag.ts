/**
 * Entity tags as preconditions. Only strong ones guard a change: a weak tag says "much the same", which is no ground to decide on.
 * Source: RFC 9110, sections 8.8.3 (entity tags), 13.1.1 (If-Match), 13.1.2 (If-None-Match).
 */
export interface EntityTag {
  /** What stands between the quotes. */
  readonly opaque: string;
  readonly isWeak: boolean;
}

/** A precondition header. `malformed` says what is wrong with it: a bad request, not a failed precondition. */
export type Precondition =
  | { readonly kind: "missing" }
  | { readonly kind: "any" }
  | { readonly kind: "tags"; readonly tags: readonly EntityTag[] }
  | { readonly kind: "malformed"; readonly reason: string };

/** `match` lets a change through. `weak`: a tag would match if weak tags did; some proxy on the way has weakened it. */
export type MatchResult = "match" | "mismatch" | "weak";

/** The tag of a version of something: `"u1-7"`, quotes included. `scope` tells apart what may have equal versions. */
export function formatEtag(scope: string, version: number): string {
  if (!/^[A-Za-z0-9._-]+$/.test(scope)) throw new RangeError(`"${scope}" cannot be part of an entity tag.`);
  return `"${scope}-${version}"`;
}

/** Reads `If-Match` or `If-None-Match`: `*`, or one tag or more. */
export function parsePrecondition(header: string | undefined): Precondition {
  if (header === undefined) return { kind: "missing" };
  const text = header.trim();
  if (text === "*") return { kind: "any" };
  const tags: EntityTag[] = [];
  // optional white space and empty elements are legal in a list; the pattern sticks, so nothing between two tags is skipped
  const pattern = /[ \t]*(?:(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*)?(,|$)/y;
  while (pattern.lastIndex < text.length) {
    const found = pattern.exec(text);
    if (found === null) return { kind: "malformed", reason: `"${text}" is no list of entity tags; a tag has quotes.` };
    if (found[2] !== undefined) tags.push({ opaque: found[2], isWeak: found[1] !== undefined });
  }
  return tags.length > 0 ? { kind: "tags", tags } : { kind: "malformed", reason: "The header names no entity tag." };
}

/** Whether `If-Match` holds for the current tag (quotes included); `undefined` for what does not exist, which not even `*` matches. */
export function matchEtag(
  precondition: Precondition & { kind: "any" | "tags" },
  current: string | undefined,
): MatchResult {
  if (current === undefined) return "mismatch";
  if (precondition.kind === "any") return "match";
  const same = precondition.tags.filter(({ opaque }) => `"${opaque}"` === current);
  if (same.some(({ isWeak }) => !isWeak)) return "match";
  return same.length > 0 ? "weak" : "mismatch";
}

/** Whether `If-None-Match` says that the client has the current version (then: 304). Weak tags count here. */
export function isFresh(precondition: Precondition, current: string): boolean {
  if (precondition.kind === "any") return true;
  return precondition.kind === "tags" && precondition.tags.some(({ opaque }) => `"${opaque}"` === current);
}
