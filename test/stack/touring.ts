import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { createSqsClient } from "../../lib/aws/clients.ts";
import { queueUrl } from "../../lib/aws/names.ts";
import { isSettled, type Run, statusOf } from "../../lib/core/run.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import { findRun, readResult, timeline } from "../../lib/engine/inspect.ts";
import { start } from "../../lib/engine/start.ts";
import type { AnyWorkflow } from "../../lib/index.ts";
import type { Queue } from "../../lib/ports.ts";
import { engineOn } from "../../lib/tools/installation.ts";
import type { Emulator, Outputs } from "./emulator.ts";

/** A deployed installation in the hands of a test. */
export function touring(emulator: Emulator, outputs: Outputs, workflows: readonly AnyWorkflow[]) {
  const {
    TableName: tableName = "",
    QueueBase: queueBase = "",
    BucketName: bucket = "",
  } = Object.values(outputs)[0] ?? {};
  const { endpoint } = emulator;
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  const { engine, close } = engineOn({ tableName, queueBase, bucket, endpoint, credentials }, workflows);
  const sqs = createSqsClient({ endpoint, region: "us-east-1", credentials, requestTimeoutMs: 15_000 });
  const urlOf = (queue: string) => queueUrl(queueBase, queue);
  const refOf = (runId: string) => ({ tenant: "default", runId });
  const look = (runId: string) => findRun(engine, refOf(runId));

  async function until(what: string, isSo: () => Promise<boolean>, limitMs = 90_000): Promise<void> {
    for (const endsAtMs = performance.now() + limitMs; performance.now() < endsAtMs; ) {
      if (await isSo()) return;
      await engine.clock.sleep(300);
    }
    throw new Error(`Not so in ${limitMs} ms: ${what}. ${emulator.log().slice(-6000)}`);
  }
  return {
    engine,
    close: () => {
      close();
      sqs.destroy();
    },
    sqs,
    urlOf,
    /** Anything at all, as a person would send it by hand. */
    send: (queue: string, body: string) =>
      sqs.send(new SendMessageCommand({ QueueUrl: urlOf(queue), MessageBody: body })),
    refOf,
    look,
    until,
    tableName,
    queueBase,
    begin: (workflow: AnyWorkflow, runId: string, input: unknown, through: Engine = engine) =>
      start(through, { workflow: workflow.name, runId, input }),
    untilStatus: (runId: string, status: string, limitMs?: number) =>
      until(
        `${runId} is ${status}`,
        async () => {
          const run = await look(runId);
          return run !== undefined && statusOf(run) === status && (run.endedAtMs === undefined || isSettled(run));
        },
        limitMs,
      ),
    untilWaits: (runId: string, state: Run["active"][number]["state"], limitMs?: number) =>
      until(
        `${runId} waits: ${state}`,
        async () => (await look(runId))?.active.some((each) => each.state === state) ?? false,
        limitMs,
      ),
    outputOf: async (runId: string) => (await readResult(engine, refOf(runId))).output,
    timelineOf: (runId: string) => timeline(engine, refOf(runId)),
  };
}

export type Touring = ReturnType<typeof touring>;

/** Every message is lost on the way; what would have been sent is kept. */
export function lossy(): Queue & { readonly lost: { readonly queue: string; readonly body: string }[] } {
  const lost: { queue: string; body: string }[] = [];
  return {
    lost,
    send: async (messages) =>
      messages.map(({ queue, body }) => {
        lost.push({ queue, body });
        return { kind: "sent" };
      }),
    isBehind: async () => false,
  };
}
