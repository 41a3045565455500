import { Fault } from "../core/faults.ts";
import type { HttpRequest, HttpResponse } from "../ports/exchange.ts";

/** What stands in an address, by the names of its template. */
export type Params = Readonly<Record<string, string>>;

/** One address and method. `path` is a template: `/runs/{runId}`. */
export interface Route<Context> {
  readonly method: string;
  readonly path: string;
  readonly run: (context: Context, request: HttpRequest, params: Params) => Promise<HttpResponse>;
}

/** The route of a request with what stands in its address. Throws `no-route`, `method-not-allowed`. */
export function routeOf<Context>(
  routes: readonly Route<Context>[],
  { method, path }: HttpRequest,
): { readonly route: Route<Context>; readonly params: Params } {
  const at = routes.flatMap((route) => {
    const params = match(route.path, path);
    return params ? [{ route, params }] : [];
  });
  const found = at.find(({ route }) => route.method === method || (method === "HEAD" && route.method === "GET"));
  if (found) return found;
  if (at.length === 0) throw new Fault("no-route", `there is nothing at ${JSON.stringify(path.slice(0, 200))}`);
  const allow = [...new Set(at.map(({ route }) => route.method))].sort().join(", ");
  throw new Fault("method-not-allowed", `${method.slice(0, 20)} is not for this address; ${allow} is`, { allow });
}

function match(template: string, path: string): Params | undefined {
  const [wanted, given] = [template.split("/"), segmentsOf(path)];
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, segment] of wanted.entries()) {
    const value = given[at] ?? "";
    if (segment.startsWith("{")) params[segment.slice(1, -1)] = value;
    else if (segment !== value) return undefined;
  }
  return params;
}

/** A slash at the end means nothing. What cannot be decoded stays as it is, and is no id. */
function segmentsOf(path: string): readonly string[] {
  return path
    .replace(/(?<=.)\/$/, "")
    .split("/")
    .map((segment) => {
      try {
        return decodeURIComponent(segment);
      } catch {
        return segment;
      }
    });
}
