import * as app from "#workflows";
import { bySource, onBatch, onSchedule } from "../lib/aws/handler.ts";
import { partsFrom } from "../lib/aws/parts.ts";
import { bury } from "../lib/engine/bury.ts";
import { createEngine } from "../lib/engine/engine.ts";
import { watch } from "../lib/engine/watch.ts";
import { registryOf } from "../lib/index.ts";

const onion = { init: () => createEngine({ ...partsFrom(process.env), registry: registryOf(app) }) };

/** Once a minute finds what is overdue; in between buries tasks that no worker could take. */
export const handler = bySource(onBatch(onion, bury), onSchedule(onion, watch));
