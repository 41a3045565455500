import type { HttpResponse } from "../ports/exchange.ts";

/**
 * An answer of JSON. `no-transform`: a proxy that compresses would weaken the entity tag, and then no precondition holds any more.
 * `private, no-cache`: to be kept by the caller alone, and asked again with its tag.
 */
export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  return {
    status,
    headers: { "content-type": "application/json", "cache-control": cacheControl, ...headers },
    body: JSON.stringify(body),
  };
}

/** The caller has this version already. The tag is said again, or a cache would forget it. */
export function notModified(etag: string): HttpResponse {
  return { status: 304, headers: { etag, "cache-control": cacheControl }, body: undefined };
}

const cacheControl = "private, no-cache, no-transform";
