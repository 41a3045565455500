import * as app from "#workflows";
import { onHttp } from "../lib/aws/handler.ts";
import { partsFrom, tenancyFrom } from "../lib/aws/parts.ts";
import { createEngine } from "../lib/engine/engine.ts";
import { answer } from "../lib/http/api.ts";
import { registryOf } from "../lib/index.ts";

const tenancy = tenancyFrom(process.env);

/** Starts runs, shows them, and takes their signals, for whomever the authorizer let in. */
export const handler = onHttp(
  { init: () => createEngine({ ...partsFrom(process.env), registry: registryOf(app) }) },
  (engine, request) => answer({ engine, tenancy }, request),
);
