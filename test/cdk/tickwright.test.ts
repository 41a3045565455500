import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { App, Stack } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { describe, expect, it } from "vitest";
import { TickwrightStack } from "../../cdk/stack.ts";
import { Tickwright, type TickwrightProps } from "../../cdk/tickwright.ts";
import { envNames, indexes, keepDays, queueName, tableKeys } from "../../lib/aws/names.ts";
import { wiring } from "../../lib/aws/wiring.ts";
import { deadQueue, deadTaskQueue } from "../../lib/core/queue-names.ts";

const workflows = fileURLToPath(new URL("./workflows.ts", import.meta.url));
const entry = fileURLToPath(new URL("./entry.ts", import.meta.url));

/** Without bundling: what esbuild makes is tested on the deployed stack. */
function synthesized(props: Partial<TickwrightProps> = {}): Template {
  const app = new App({ context: { "aws:cdk:bundling-stacks": [] } });
  const stack = new Stack(app, "Test");
  const { groups = { default: {} } } = props;
  new Tickwright(stack, "Tickwright", {
    workflows,
    ...props,
    coordinator: { entry, ...props.coordinator },
    watchdog: { entry, ...props.watchdog },
    groups: Object.fromEntries(
      Object.entries(groups).map(([group, options]) => [group, { entry, isKept: group !== "default", ...options }]),
    ),
  });
  return Template.fromStack(stack);
}
const plain = synthesized();

type Redrive = { readonly maxReceiveCount: number } | undefined;
type Resource = { readonly Properties: Record<string, never> };
const all = (template: Template, type: string) => template.findResources(type) as Record<string, Resource>;
/** The id of the one resource of a type whose id starts so. */
function idOf(template: Template, type: string, start: string): string {
  const ids = Object.keys(all(template, type)).filter((id) => id.startsWith(`Tickwright${start}`));
  if (ids.length !== 1) throw new Error(`${ids.length} of ${type} start with ${start}: ${ids}`);
  return ids[0]!;
}
/** Every action of a function's role, with the resources as text. */
function grantsOf(template: Template, name: string): Record<string, string> {
  const id = idOf(template, "AWS::IAM::Policy", `${name}ServiceRoleDefaultPolicy`);
  const document = all(template, "AWS::IAM::Policy")[id]?.Properties["PolicyDocument"] as unknown as {
    Statement: { Action: string | string[]; Resource: unknown }[];
  };
  const grants: Record<string, string> = {};
  for (const { Action, Resource } of document.Statement) {
    for (const action of [Action].flat()) grants[action] = (grants[action] ?? "") + JSON.stringify(Resource);
  }
  return grants;
}

describe("the table", () => {
  it("has the frozen keys, both keys-only indexes, expiry and point-in-time recovery, and is kept", () => {
    plain.hasResource("AWS::DynamoDB::GlobalTable", {
      DeletionPolicy: "Retain",
      Properties: {
        BillingMode: "PAY_PER_REQUEST",
        KeySchema: [
          { AttributeName: tableKeys.partition, KeyType: "HASH" },
          { AttributeName: tableKeys.sort, KeyType: "RANGE" },
        ],
        TimeToLiveSpecification: { AttributeName: tableKeys.expiry, Enabled: true },
        GlobalSecondaryIndexes: Object.values(indexes).map(({ name, partition, sort }) => ({
          IndexName: name,
          KeySchema: [
            { AttributeName: partition, KeyType: "HASH" },
            { AttributeName: sort, KeyType: "RANGE" },
          ],
          Projection: { ProjectionType: "KEYS_ONLY" },
        })),
        Replicas: [
          Match.objectLike({
            PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
            DeletionProtectionEnabled: true,
          }),
        ],
      },
    });
  });

  it("has no replica in another region: the last writer would win (D18)", () => {
    const [table] = Object.values(all(plain, "AWS::DynamoDB::GlobalTable"));
    expect(table?.Properties["Replicas"]).toHaveLength(1);
  });

  it("comes with a private bucket for big payloads, with a rule for each class of expiry, unless one wants none", () => {
    plain.hasResourceProperties("AWS::S3::Bucket", {
      PublicAccessBlockConfiguration: { BlockPublicAcls: true, RestrictPublicBuckets: true },
      LifecycleConfiguration: { Rules: Match.arrayWith([Match.objectLike({ ExpirationInDays: keepDays[0] })]) },
    });
    synthesized({ hasPayloadBucket: false }).resourceCountIs("AWS::S3::Bucket", 0);
  });
});

describe("the queues", () => {
  it("are standard ones, each with a dead-letter queue that keeps longer, and a dead task's own is the last (Q9)", () => {
    const queues = Object.values(all(plain, "AWS::SQS::Queue")).map(
      ({ Properties }) => Properties as never as Record<string, never>,
    );
    const dead = [deadQueue, deadTaskQueue].map((queue) => queueName("tickwright", queue));
    const [deads, sources] = [true, false].map((isDead) =>
      queues.filter((queue) => dead.includes(queue["QueueName"]!) === isDead),
    );
    expect(deads).toHaveLength(2);
    expect(sources?.map((queue) => queue["QueueName"])).toEqual([
      "tickwright-wake-standard",
      "tickwright-watch",
      "tickwright-task-default",
    ]);
    for (const queue of deads!) expect(queue["MessageRetentionPeriod"]).toBe(14 * 86_400);
    const maxReceiveCounts = deads!.map((queue) => (queue["RedrivePolicy"] as never as Redrive)?.maxReceiveCount);
    expect(maxReceiveCounts).toEqual([undefined, 2 * (wiring.maxReceiveCount + 1)]);
    for (const queue of sources!) {
      expect(queue["MessageRetentionPeriod"]).toBe(4 * 86_400);
      expect(queue["RedrivePolicy"]).toMatchObject({ maxReceiveCount: wiring.maxReceiveCount });
      expect(queue["FifoQueue"]).toBeUndefined();
    }
  });

  it("hide a received message for six time-outs of its function, whatever the time-out is (L5)", () => {
    const template = synthesized({ coordinator: { timeoutS: 20 }, groups: { default: {}, slow: { timeoutS: 600 } } });
    const visibility = { "wake-standard": 120, "task-default": 360, "task-slow": 3600, "dead-task": 330 };
    for (const [name, seconds] of Object.entries(visibility)) {
      template.hasResourceProperties("AWS::SQS::Queue", {
        QueueName: `tickwright-${name}`,
        VisibilityTimeout: seconds,
      });
    }
  });

  it("are there once more per tier and per group", () => {
    const template = synthesized({ tiers: ["standard", "bulk"], groups: { default: {}, mail: {} } });
    template.hasResourceProperties("AWS::SQS::Queue", { QueueName: "tickwright-wake-bulk" });
    template.hasResourceProperties("AWS::SQS::Queue", { QueueName: "tickwright-task-mail" });
    template.resourceCountIs("AWS::Lambda::EventSourceMapping", 6);
  });
});

describe("the functions", () => {
  const functions = Object.values(all(synthesized({ groups: { default: {}, mail: {} } }), "AWS::Lambda::Function")).map(
    ({ Properties }) => Properties as never as Record<string, unknown>,
  );

  it("allow the loop that they are, every one of them (L1)", () => {
    expect(functions).toHaveLength(5);
    for (const fn of functions) expect(fn["RecursiveLoop"]).toBe("Allow");
  });

  it("run on Node 24 on Arm, and are told what they need by name", () => {
    for (const fn of functions) {
      expect(fn).toMatchObject({ Runtime: "nodejs24.x", Architectures: ["arm64"] });
      const { Variables: env } = fn["Environment"] as { Variables: Record<string, unknown> };
      expect(Object.keys(env)).toEqual(
        expect.arrayContaining([envNames.table, envNames.queueBase, envNames.bucket, envNames.metrics]),
      );
    }
    const groups = functions.map(
      (fn) => (fn["Environment"] as { Variables: Record<string, unknown> }).Variables[envNames.group],
    );
    expect(groups.filter((group) => group !== undefined).sort()).toEqual(["default", "mail"]);
  });

  it("report batch item failures on every event source, with a maximum concurrency and no reservation (L2, L6)", () => {
    const sources = Object.values(all(plain, "AWS::Lambda::EventSourceMapping"));
    expect(sources).toHaveLength(4);
    for (const { Properties } of sources) {
      expect(Properties["FunctionResponseTypes"]).toEqual(["ReportBatchItemFailures"]);
      expect(Properties["ScalingConfig"]).toEqual({ MaximumConcurrency: expect.any(Number) });
    }
    for (const fn of functions) expect(fn["ReservedConcurrentExecutions"]).toBeUndefined();
  });

  it("take watchdog wake-ups and tasks one at a time", () => {
    const sizes = Object.values(all(plain, "AWS::Lambda::EventSourceMapping")).map(
      ({ Properties }) => Properties["BatchSize"],
    );
    expect(sizes.sort()).toEqual([1, 1, 10, 10]);
  });

  it("log into groups that forget after a month", () => {
    plain.resourceCountIs("AWS::Logs::LogGroup", 5);
    plain.allResourcesProperties("AWS::Logs::LogGroup", { RetentionInDays: 30 });
  });

  it("share the name of their build, which tells of their code and of nothing else", () => {
    const buildsOf = (template: Template) =>
      new Set(
        Object.values(all(template, "AWS::Lambda::Function")).map(
          ({ Properties }) =>
            (Properties["Environment"] as unknown as { Variables: Record<string, unknown> }).Variables[envNames.build],
        ),
      );
    expect(buildsOf(plain).size).toBe(1);
    expect([...buildsOf(plain)][0]).toMatch(/^[0-9a-f]{12}$/);
    expect(buildsOf(synthesized({ prefix: "other", tiers: ["standard", "bulk"] }))).toEqual(buildsOf(plain));
    const changed = { coordinator: { entry: fileURLToPath(new URL("./tickwright.test.ts", import.meta.url)) } };
    expect(buildsOf(synthesized(changed))).not.toEqual(buildsOf(plain));
  });

  it("space strikes wider than the longest time-out", () => {
    const env = { Environment: { Variables: Match.objectLike({ [envNames.limits]: '{"strikeSpacingMs":960000}' }) } };
    synthesized({ groups: { default: {}, slow: { timeoutS: 900 } } }).hasResourceProperties(
      "AWS::Lambda::Function",
      env,
    );
    expect(() => synthesized({ limits: { strikeSpacingMs: 60_000 } })).toThrow("strikeSpacingMs must be more than");
  });
});

describe("what each function may do", () => {
  it("is reading and conditional writing of records, never a scan, a delete or a wildcard action", () => {
    for (const name of ["Coordinator", "Watchdog", "WorkerDefault"]) {
      const actions = Object.keys(grantsOf(plain, name));
      expect(actions.filter((action) => action.startsWith("dynamodb:")).sort()).toEqual([
        "dynamodb:BatchGetItem",
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:Query",
        "dynamodb:UpdateItem",
      ]);
      expect(actions.filter((action) => action.includes("*"))).toEqual([]);
    }
  });

  it("lets the watchdog alone search the index of the overdue", () => {
    expect(grantsOf(plain, "Watchdog")["dynamodb:Query"]).toContain("/index/due");
    for (const name of ["Coordinator", "WorkerDefault"]) {
      expect(grantsOf(plain, name)["dynamodb:Query"]).not.toContain("/index/");
    }
  });

  it("lets a worker take from its own task queue only, and the watchdog send no tasks", () => {
    const template = synthesized({ groups: { default: {}, mail: {} } });
    const taken = grantsOf(template, "WorkerMail")["sqs:ReceiveMessage"];
    expect(taken).toContain("QueueTaskMail");
    expect(taken).not.toContain("QueueTaskDefault");
    expect(grantsOf(template, "Watchdog")["sqs:SendMessage"]).not.toContain("QueueTask");
    expect(grantsOf(template, "Watchdog")["s3:GetObject"]).toBeUndefined();
  });
});

describe("the watchdog", () => {
  it("is called every minute, without a repeat of a call that failed", () => {
    plain.hasResourceProperties("AWS::Scheduler::Schedule", {
      ScheduleExpression: "rate(1 minute)",
      Target: Match.objectLike({ RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 } }),
    });
  });
});

describe("alarms", () => {
  it("watch both dead-letter queues, dropped recursions, held force-fails and a silent watchdog", () => {
    const alarms = Object.values(all(plain, "AWS::CloudWatch::Alarm")).map(
      ({ Properties }) => Properties["MetricName"],
    );
    expect(alarms.sort()).toEqual([
      "ApproximateNumberOfMessagesVisible",
      "ApproximateNumberOfMessagesVisible",
      "Invocations",
      "RecursiveInvocationsDropped",
      "RecursiveInvocationsDropped",
      "RecursiveInvocationsDropped",
      "RecursiveInvocationsDropped",
      "force-fails-held",
    ]);
  });
});

describe("an installation", () => {
  it("refuses at synthesis what AWS would refuse", () => {
    expect(() => synthesized({ prefix: "under_score" })).toThrow("letters, digits and hyphens");
    expect(() => synthesized({ prefix: "x".repeat(40) })).toThrow("1 to 39");
    expect(() => synthesized({ tiers: ["bulk"] })).toThrow("standard");
  });
});

describe("the workflows of an installation", () => {
  const long = fileURLToPath(new URL("./long-workflows.ts", import.meta.url));
  const timeoutsOf = (props: Partial<TickwrightProps>) => {
    const app = new App({ context: { "aws:cdk:bundling-stacks": [] } });
    const template = Template.fromStack(new TickwrightStack(app, "Test", { workflows: long, ...props }));
    return Object.fromEntries(
      Object.values(all(template, "AWS::Lambda::Function")).map(({ Properties }) => [
        (Properties["Environment"] as unknown as { Variables: Record<string, unknown> }).Variables[envNames.group] ??
          Properties["Description"],
        Properties["Timeout"],
      ]),
    );
  };

  it("have a function for each group that they, their children or their compensations name, unless one says which", () => {
    expect(timeoutsOf({})).toMatchObject({ films: 610, undoing: 130 });
    expect(timeoutsOf({ groups: { films: { timeoutS: 900 }, undoing: {}, old: { isKept: true } } })).toMatchObject({
      films: 900,
      undoing: 130,
      old: 60,
    });
  });

  it("are refused at synthesis where a group has no function, or a function no work", () => {
    expect(() => synthesized({ groups: {} })).toThrow(
      "The step quick of workflow small is for group default, which has no function: add `default: {}` to groups.",
    );
    expect(() => synthesized({ groups: { default: {}, mail: { isKept: false } } })).toThrow(
      /names the group mail: remove it from groups, or set its isKept/,
    );
  });

  it("are refused where a step may take longer than its function", () => {
    expect(() => timeoutsOf({ groups: { films: { timeoutS: 600 }, undoing: {} } })).toThrow(
      "The step long of workflow film may take 600000 ms, and 2000 ms are kept back to record its end: raise timeoutS of group films above 600",
    );
  });

  it("are refused where there are none to load", () => {
    expect(() => synthesized({ workflows: "nowhere.ts" })).toThrow(/could not be loaded from .*nowhere\.ts/);
    expect(() => synthesized({ workflows: entry })).toThrow("must export `workflows`");
  });

  it("are what every function's code imports under #workflows", () => {
    let code: readonly string[] = [];
    const folder = mkdtempSync(join(tmpdir(), "tickwright-bundled-"));
    try {
      execFileSync(process.execPath, [fileURLToPath(new URL("./bundled-app.ts", import.meta.url)), folder], {
        stdio: "pipe",
      });
      const assets = readdirSync(folder).filter((name) => name.startsWith("asset."));
      code = assets.map((name) => readFileSync(join(folder, name, "index.mjs"), "utf8"));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    // one bundle for both workers: they differ by their environment alone
    expect(code).toHaveLength(4);
    for (const text of code) {
      expect(text).toContain('"films"');
      expect(text).not.toContain('"onboarding"');
    }
  });
});
