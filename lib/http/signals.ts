import * as v from "valibot";
import { signal } from "../engine/commands.ts";
import { loadRun } from "../engine/load.ts";
import { json } from "./answers.ts";
import type { Api } from "./api.ts";
import { callerOf } from "./caller.ts";
import { idOf, idSchema } from "./ids.ts";
import { bodyOf } from "./json-body.ts";
import { isUnmodified } from "./precondition.ts";
import type { Route } from "./router.ts";

const signalBody = v.strictObject({ id: v.exactOptional(idSchema), payload: v.exactOptional(v.unknown()) });

/**
 * Sends a signal: 202 when it is stored and the run was woken. A repeat with the same id gets the old number. Nothing guards a signal
 * by a version, so a precondition is refused instead of passed over.
 */
export const signalRoute: Route<Api> = {
  method: "POST",
  path: "/runs/{runId}/signals/{name}",
  async run(api, request, params) {
    const { tenant } = callerOf(request.identity, api.tenancy);
    const ref = { tenant, runId: idOf(params, "runId") };
    const name = idOf(params, "name");
    const { payload = null, id } = bodyOf(request, signalBody);
    if (request.headers["if-match"] !== undefined) {
      await loadRun(api.engine, ref);
      isUnmodified(request, undefined);
    }
    const { seq, isRepeat } = await signal(api.engine, ref, { signal: name, payload, ...(id !== undefined && { id }) });
    return json(202, { seq, isRepeat });
  },
};
