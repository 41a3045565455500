import * as v from "valibot";
import { utf8 } from "../core/bytes.ts";
import type { Evaluated } from "../core/expression.ts";
import { exchange } from "../core/limits.ts";
import { type Run, statusOf, tiers } from "../core/run.ts";
import { readResult } from "../engine/inspect.ts";
import { start } from "../engine/start.ts";
import { formatEtag } from "../guard/etag.ts";
import type { HttpRequest, HttpResponse } from "../ports/exchange.ts";
import { json, notModified } from "./answers.ts";
import type { Api } from "./api.ts";
import { callerOf } from "./caller.ts";
import { idOf, idSchema } from "./ids.ts";
import { bodyOf } from "./json-body.ts";
import { isUnmodified } from "./precondition.ts";
import type { Params, Route } from "./router.ts";

const tagText = v.pipe(v.string(), v.minLength(1), v.maxLength(exchange.tagCharsMax));

const startBody = v.strictObject({
  workflow: idSchema,
  input: v.exactOptional(v.unknown()),
  runId: v.exactOptional(idSchema),
  tier: v.exactOptional(v.picklist(tiers)),
  deadlineMs: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  tags: v.exactOptional(
    v.pipe(
      v.record(tagText, tagText),
      v.check((tags) => Object.keys(tags).length <= exchange.tagsMax, `may have ${exchange.tagsMax} entries`),
    ),
  ),
});

/** Starts a run, or finds the one that this call started before: 201 for a new one, 200 for a repeat, 409 for another's id. */
async function startRun(api: Api, request: HttpRequest): Promise<HttpResponse> {
  const caller = callerOf(request.identity, api.tenancy);
  const { input = null, ...body } = bodyOf(request, startBody);
  const { run, isNew } = await start(api.engine, { ...body, ...caller, input });
  return json(isNew ? 201 : 200, summaryOf(run), { etag: etagOf(run), location: `/runs/${run.runId}` });
}

/** A run as it stands, with its output once it has succeeded. Whose run it is comes first: another tenant's is not there. */
async function getRun(api: Api, request: HttpRequest, params: Params): Promise<HttpResponse> {
  const { tenant } = callerOf(request.identity, api.tenancy);
  const { run, output } = await readResult(api.engine, { tenant, runId: idOf(params, "runId") });
  const etag = etagOf(run);
  if (isUnmodified(request, etag)) return notModified(etag);
  return json(200, { ...summaryOf(run), ...(output && outputOf(output)) }, { etag });
}

/** Every version of a run has a strong tag; a new run under an old id shares none with its predecessor. */
const etagOf = (run: Run) => formatEtag(run.runUid, run.recordVersion);

function summaryOf(run: Run) {
  const { runId, runUid, workflow, definitionHash, tier, recordVersion, createdAtMs, deadlineAtMs, endedAtMs } = run;
  return {
    runId,
    runUid,
    workflow,
    definitionHash,
    tier,
    status: statusOf(run),
    recordVersion,
    createdAtMs,
    deadlineAtMs,
    ...(endedAtMs !== undefined && { endedAtMs }),
    ...(run.reason && { reason: run.reason }),
    ...(run.isUncompensated && { isUncompensated: true }),
  };
}

/** An output, or why there is none to show. */
function outputOf(output: Evaluated) {
  if (!output.ok) return { outputFault: output.fault };
  const bytes = utf8(JSON.stringify(output.value ?? null)).length;
  if (bytes <= exchange.outputBytesMax) return output.value === undefined ? {} : { output: output.value };
  const message = `the output has ${bytes} bytes; an answer shows ${exchange.outputBytesMax}`;
  return { outputFault: { code: "payload-too-big" as const, message } };
}

/** The addresses of runs. */
export const runRoutes: readonly Route<Api>[] = [
  { method: "POST", path: "/runs", run: startRun },
  { method: "GET", path: "/runs/{runId}", run: getRun },
];
