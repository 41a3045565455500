import * as v from "valibot";
import { utf8 } from "../core/bytes.ts";
import { Fault } from "../core/faults.ts";
import { exchange } from "../core/limits.ts";
import type { HttpRequest } from "../ports/exchange.ts";

/** JSON, and its relatives such as `application/merge-patch+json`. */
const jsonType = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/**
 * A request's body, read and checked. A missing Content-Type counts as JSON. Throws `body-too-big`, `not-json`, and `bad-request`
 * that names every member which does not fit.
 */
export function bodyOf<T>(request: HttpRequest, schema: v.GenericSchema<unknown, T>): T {
  const { body = "", headers } = request;
  const bytes = utf8(body).length;
  if (bytes > exchange.bodyBytesMax)
    throw new Fault("body-too-big", `the body has ${bytes} bytes; it may have ${exchange.bodyBytesMax}`);
  const type = headers["content-type"];
  if (type !== undefined && !jsonType.test(type.trim()))
    throw new Fault("not-json", `the body is said to be ${JSON.stringify(type.slice(0, 100))}, not application/json`);
  const value = parsed(body);
  if (Array.isArray(value)) throw new Fault("bad-request", "the body must be a JSON object, not a list");
  const checked = v.safeParse(schema, value);
  if (checked.success) return checked.output;
  const issues = checked.issues.slice(0, 5).map((issue) => `${v.getDotPath(issue) ?? "the body"}: ${issue.message}`);
  throw new Fault("bad-request", issues.join("; "));
}

function parsed(body: string): unknown {
  if (body.trim() === "") return {};
  if (depthOf(body) > exchange.jsonDepthMax)
    throw new Fault("bad-request", `the body nests deeper than ${exchange.jsonDepthMax} levels`);
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new Fault("bad-request", `the body is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** How deep lists and objects stand in each other, brackets in texts not counted. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === "[" || token === "{") deepest = Math.max(deepest, ++depth);
    else if (token === "]" || token === "}") depth--;
  }
  return deepest;
}
