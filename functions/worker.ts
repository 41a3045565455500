import * as app from "#workflows";
import { onBatch } from "../lib/aws/handler.ts";
import { groupFrom, partsFrom } from "../lib/aws/parts.ts";
import { createEngine } from "../lib/engine/engine.ts";
import { work } from "../lib/engine/work.ts";
import { registryOf } from "../lib/index.ts";

/** Takes the tasks of its group, runs the users' steps, and moves their runs on. */
export const handler = onBatch(
  { init: () => createEngine({ ...partsFrom(process.env), registry: registryOf(app) }) },
  (engine, batch, remaining) => work(engine, groupFrom(process.env), batch, remaining),
);
