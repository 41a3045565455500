import { describe, expect, it } from "vitest";
import { queueName } from "../../lib/aws/names.ts";
import { wiring } from "../../lib/aws/wiring.ts";
import { deadQueue, deadTaskQueue } from "../../lib/core/queue-names.ts";
import { all, idsOf, type Json, synthesized, targetOf } from "./synthesis.ts";

const prefix = "tickwright";
const plain = synthesized({ prefix });
const rich = synthesized({
  prefix,
  tiers: ["standard", "bulk", "interactive"],
  coordinator: { timeoutS: 20, batchSize: 5, batchWindowS: 3 },
  deadTasks: { timeoutS: 40, maxConcurrency: 3 },
  groups: { default: {}, mail: { maxConcurrency: 7, visibilityS: 900 }, slow: { timeoutS: 600 } },
});
const queuesOf = (template: typeof plain) => Object.values(all(template, "AWS::SQS::Queue"));
const dead = [deadQueue, deadTaskQueue].map((queue) => queueName(prefix, queue));

describe("the queues", () => {
  it("are one per tier and group, the watchdog's, those of the dead, and the schedule's for what cannot be delivered", () => {
    expect(idsOf(plain, "AWS::SQS::Queue")).toEqual([
      "QueueDead",
      "QueueDeadTask",
      "QueueTaskDefault",
      "QueueWakeStandard",
      "QueueWatch",
      "ScheduleDead",
    ]);
    expect(queuesOf(rich).map(({ QueueName: name }) => name)).toEqual([
      ...["dead", "dead-task", "wake-standard", "wake-bulk", "wake-interactive", "watch"].map(
        (name) => `${prefix}-${name}`,
      ),
      ...["task-default", "task-mail", "task-slow"].map((name) => `${prefix}-${name}`),
      undefined,
    ]);
  });

  it.each([plain, rich])(
    "have each a dead-letter queue that keeps longer; that of dead tasks has the last (Q9)",
    (template) => {
      const byId = all(template, "AWS::SQS::Queue");
      const sources = Object.values(byId).filter(({ QueueName: name }) => name !== undefined && !dead.includes(name));
      expect(sources.length).toBeGreaterThanOrEqual(3);
      for (const { QueueName: name, RedrivePolicy: redrive, MessageRetentionPeriod: keptS } of sources) {
        expect(redrive.maxReceiveCount).toBe(wiring.maxReceiveCount);
        expect(redrive.maxReceiveCount).toBeGreaterThanOrEqual(5);
        const target = byId[redrive.deadLetterTargetArn["Fn::GetAtt"][0]];
        expect(target.QueueName).toBe(name.includes("-task-") ? dead[1] : dead[0]);
        expect(target.MessageRetentionPeriod).toBeGreaterThan(keptS);
      }
      const deads = Object.values(byId).filter(({ QueueName: name }) => dead.includes(name));
      expect(deads.map(({ RedrivePolicy: redrive }) => redrive?.maxReceiveCount)).toEqual([
        undefined,
        2 * (wiring.maxReceiveCount + 1),
      ]);
    },
  );

  it.each([plain, rich])("are standard ones, encrypted, and reached over TLS alone", (template) => {
    for (const queue of queuesOf(template)) {
      expect(queue.FifoQueue).toBeUndefined();
      expect(queue.SqsManagedSseEnabled).toBe(true);
    }
    const policies = Object.values(all(template, "AWS::SQS::QueuePolicy"));
    expect(policies.flatMap(({ Queues: queues }) => queues)).toHaveLength(queuesOf(template).length);
    for (const { PolicyDocument: document } of policies) {
      expect(document.Statement).toContainEqual(
        expect.objectContaining({ Effect: "Deny", Condition: { Bool: { "aws:SecureTransport": "false" } } }),
      );
    }
  });
});

/** Every mapping with its queue and function. */
function mappingsOf(template: typeof plain) {
  const queues = all(template, "AWS::SQS::Queue");
  const functions = all(template, "AWS::Lambda::Function");
  return Object.values(all(template, "AWS::Lambda::EventSourceMapping")).map((mapping: Json) => ({
    mapping,
    queue: queues[mapping.EventSourceArn["Fn::GetAtt"][0]],
    fn: functions[mapping.FunctionName.Ref],
    consumer: targetOf(mapping.FunctionName),
  }));
}

describe("the mappings", () => {
  it.each([
    [plain, 4],
    [rich, 8],
  ])("report batch item failures and have a maximum concurrency, every one of them (L2, L6)", (template, count) => {
    const found = mappingsOf(template);
    expect(found).toHaveLength(count);
    for (const { mapping, fn } of found) {
      expect(mapping.Enabled).toBe(true);
      expect(mapping.FunctionResponseTypes).toEqual(["ReportBatchItemFailures"]);
      expect(mapping.ScalingConfig.MaximumConcurrency).toBeGreaterThanOrEqual(2);
      expect(fn.ReservedConcurrentExecutions).toBeUndefined();
    }
  });

  it.each([plain, rich])("hide a received message for six time-outs and the window at the least (L5)", (template) => {
    for (const { mapping, queue, fn } of mappingsOf(template)) {
      const windowS = mapping.MaximumBatchingWindowInSeconds ?? 0;
      expect(queue.VisibilityTimeout).toBeGreaterThanOrEqual(6 * fn.Timeout + windowS);
    }
  });

  it("take what one chose", () => {
    const chosen = Object.fromEntries(
      mappingsOf(rich).map(({ mapping, queue }) => [
        queue.QueueName.slice(prefix.length + 1),
        [
          queue.VisibilityTimeout,
          mapping.BatchSize,
          mapping.MaximumBatchingWindowInSeconds,
          mapping.ScalingConfig.MaximumConcurrency,
        ],
      ]),
    );
    expect(chosen).toEqual({
      "wake-standard": [123, 5, 3, 50],
      "wake-bulk": [123, 5, 3, 50],
      "wake-interactive": [123, 5, 3, 50],
      watch: [120, 1, undefined, 50],
      "task-default": [360, 1, undefined, 50],
      "task-mail": [900, 1, undefined, 7],
      "task-slow": [3600, 1, undefined, 50],
      "dead-task": [240, 10, undefined, 3],
    });
  });

  it("take watchdog wake-ups and tasks one at a time, whatever one chose", () => {
    for (const { mapping, queue } of [...mappingsOf(plain), ...mappingsOf(rich)]) {
      if (/-watch$|-task-/.test(queue.QueueName) && !dead.includes(queue.QueueName)) expect(mapping.BatchSize).toBe(1);
    }
  });

  it.each([
    [{ coordinator: { visibilityS: 179 } }, "Set at least 180"],
    [{ coordinator: { visibilityS: 180, batchWindowS: 1 } }, "Set at least 181"],
    [
      { groups: { default: { visibilityS: 100 } } },
      "The visibilityS of worker:default, 100, is less than 6 time-outs of 60 s",
    ],
    [{ groups: { default: { visibilityS: 43_201 } } }, "from 0 to 43200"],
    [{ groups: { default: { maxConcurrency: 1 } } }, "The maxConcurrency of worker:default is 1"],
    [{ deadTasks: { maxConcurrency: 1001 } }, "from 2 to 1000"],
    [{ coordinator: { batchSize: 11 } }, "The batchSize of coordinator is 11: it must be a whole number from 1 to 10"],
    [{ coordinator: { batchWindowS: 301 } }, "from 0 to 300"],
    [{ coordinator: { timeoutS: 901 } }, "Lambda takes whole seconds from 1 to 900"],
    [{ tiers: ["bulk"] as const }, "The tier standard is always there: name it too."],
    [
      { tiers: ["standard", "fast" as "bulk"] as const },
      "There is no tier fast: choose of interactive, standard, bulk.",
    ],
  ])("refuse at synthesis what AWS would refuse, or take and regret: %j", (props, message) => {
    expect(() => synthesized(props)).toThrow(message);
  });
});
