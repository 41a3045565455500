import * as app from "#workflows";
import { onBatch } from "../lib/aws/handler.ts";
import { partsFrom } from "../lib/aws/parts.ts";
import { coordinate } from "../lib/engine/coordinate.ts";
import { createEngine } from "../lib/engine/engine.ts";
import { registryOf } from "../lib/index.ts";

/** Takes wake-ups and moves runs on. It never calls a user's function; it knows the workflows to check the input of child runs. */
export const handler = onBatch(
  { init: () => createEngine({ ...partsFrom(process.env), registry: registryOf(app) }) },
  coordinate,
);
