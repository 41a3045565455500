import { parseArgs } from "node:util";
import * as app from "#workflows";
import type { App } from "../lib/index.ts";
import { writeDefinitions } from "../lib/tools/definitions-file.ts";

/** `npm run definitions -- [--file definitions.json]`: writes what this build has. */
const keepOf = ({ keep }: App) => (keep ? { keep } : {});
const { values } = parseArgs({ options: { file: { type: "string", default: "definitions.json" } } });
const { workflows: written } = await writeDefinitions(app.workflows, values.file, keepOf(app));
process.stdout.write(`${values.file}: ${Object.keys(written).join(", ")}\n`);
