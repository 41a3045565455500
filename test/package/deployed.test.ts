import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bootstrapAndDeploy } from "../../stack/cdk-cli.ts";
import { type Emulator, startEmulator } from "../stack/emulator.ts";
import { createStranger } from "./stranger.ts";

const workflows = `
import * as v from "valibot";
import { step, workflow } from "tickwright";

const letter = v.object({ to: v.string() });
const draft = v.object({ to: v.string(), text: v.string() });
const write = step("write", { input: letter, output: draft }, ({ to }) => ({ to, text: "Dear " + to }));
const post = step("post", { input: draft, output: v.string(), group: "mail" }, ({ text }) => "posted: " + text);

export const letters = workflow("letters", { input: letter }, (flow, input) => flow.run(post, flow.run(write, input)));
export const workflows = [letters];
`;

const app = `
import { App, CfnOutput, Stack } from "aws-cdk-lib";
import { Tickwright } from "tickwright/cdk";

const stack = new Stack(new App(), "Letters");
const engine = new Tickwright(stack, "Engine", { workflows: "./workflows.ts" });
new CfnOutput(stack, "Table", { value: engine.table.tableName });
new CfnOutput(stack, "Queues", { value: engine.queueBase });
`;

const run = `
import { connect } from "tickwright/connect";
import { letters } from "./workflows.ts";

const [, , tableName, queueBase, endpoint] = process.argv;
const there = connect({ tableName, queueBase, endpoint, workflows: [letters], endWithinMs: 120_000 });
const run = await there.start(letters, { runId: "letter-1", input: { to: "Ada" } });
console.log(await run.end(), run.output);
there.close();
`;

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator({ isIamEnforced: false });
}, 180_000);
afterAll(() => emulator?.stop());

it("a stranger's five lines, two groups and a workflow are deployed from the packed tarball, and a run comes to its end", () => {
  const stranger = createStranger("installation", { "workflows.ts": workflows, "app.ts": app, "run.ts": run });
  const outputsFile = join(stranger.folder, "outputs.json");
  bootstrapAndDeploy(emulator.port, { app: "node app.ts", outputsFile, isQuiet: true, folder: stranger.folder });
  const { Letters } = JSON.parse(readFileSync(outputsFile, "utf8")) as { Letters: { Table: string; Queues: string } };
  const said = stranger.node("run.ts", Letters.Table, Letters.Queues, emulator.endpoint);
  expect(said).toBe("succeeded posted: Dear Ada\n");
  expect(emulator.log()).toContain("WorkerMail");
}, 400_000);
