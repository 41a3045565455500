import { Fault } from "../core/faults.ts";
import type { Engine } from "../engine/engine.ts";
import type { HttpRequest, HttpResponse } from "../ports/exchange.ts";
import type { Tenancy } from "./caller.ts";
import { healthRoute } from "./health.ts";
import { problemOf } from "./problem.ts";
import { routeOf } from "./router.ts";
import { runRoutes } from "./runs.ts";
import { signalRoute } from "./signals.ts";

/** What the API works with: an engine, and how it tells tenants apart. */
export interface Api {
  readonly engine: Engine;
  readonly tenancy: Tenancy;
}

const routes = [healthRoute, ...runRoutes, signalRoute];

/** Answers a request. Never throws: whatever goes wrong is an answer too, and what is ours to mend is logged. */
export async function answer(api: Api, request: HttpRequest): Promise<HttpResponse> {
  const response = await tried(api, request);
  return request.method === "HEAD" ? { ...response, body: undefined } : response;
}

async function tried(api: Api, request: HttpRequest): Promise<HttpResponse> {
  try {
    const { route, params } = routeOf(routes, request);
    return await route.run(api, request, params);
  } catch (error) {
    const problem = problemOf(error);
    if (problem.status >= 500) logged(api.engine, request, error, problem.status);
    return problem;
  }
}

/** A service that is busy or away is no defect of ours. */
function logged({ log }: Engine, { method, path, requestId }: HttpRequest, error: unknown, status: number): void {
  const isFault = Fault.is(error);
  log.write(status === 503 ? "warn" : "error", "http.failed", {
    method,
    path: path.slice(0, 200),
    requestId,
    status,
    code: isFault ? error.code : "defect",
    ...(isFault ? { reason: error.message } : { cause: error }),
  });
}
