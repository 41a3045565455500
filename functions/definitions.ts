import { parseArgs } from "node:util";
import { workflows } from "#workflows";
import { writeDefinitions } from "../lib/tools/definitions-file.ts";

/** `npm run definitions -- [--file definitions.json]`: writes what this build has. */
const { values } = parseArgs({ options: { file: { type: "string", default: "definitions.json" } } });
const { workflows: written } = await writeDefinitions(workflows, values.file);
process.stdout.write(`${values.file}: ${Object.keys(written).join(", ")}\n`);
