import { Key } from "aws-cdk-lib/aws-kms";
import { describe, expect, it } from "vitest";
import { all, idsOf, type Json, nameOf, rightsOf, statementsOf, synthesized } from "./synthesis.ts";

const template = synthesized({ tiers: ["standard", "bulk"], groups: { default: {}, mail: {} } });
const functions = idsOf(template, "AWS::Lambda::Function");
const on = (actions: readonly string[], ...resources: readonly string[]) =>
  actions.flatMap((action) => resources.map((resource) => `${action} <${resource}>`));

const records = on(
  ["dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"],
  "Table",
);
const payloads = [
  ...["s3:GetObject", "s3:PutObject", "s3:PutObjectTagging"].map((action) => `${action} <Payloads>/*`),
  "s3:ListBucket <Payloads>",
];
const sending = (...queues: readonly string[]) =>
  on(["sqs:SendMessage", "sqs:GetQueueAttributes"], ...queues.map((queue) => `Queue${queue}`));
const taking = (...queues: readonly string[]) =>
  on(["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"], ...queues.map((queue) => `Queue${queue}`));
const always = (name: string) => [
  ...on(["logs:CreateLogStream", "logs:PutLogEvents"], `${name}Logs`),
  "xray:PutTelemetryRecords *",
  "xray:PutTraceSegments *",
];
const ticking = [...records, ...payloads, ...sending("WakeStandard", "WakeBulk", "TaskDefault", "TaskMail", "Dead")];

/** All that each function may do; the table of docs/security.md in code. */
const expected: Readonly<Record<string, readonly string[]>> = {
  Coordinator: [...ticking, ...sending("Watch"), ...taking("WakeStandard", "WakeBulk", "Watch")],
  WorkerDefault: [...ticking, ...taking("TaskDefault")],
  WorkerMail: [...ticking, ...taking("TaskMail")],
  Watchdog: [...records, "dynamodb:Query <Table>/index/due", ...sending("Watch", "WakeStandard")],
  Api: [
    ...records,
    ...payloads,
    ...on(["sqs:SendMessage"], "QueueWakeStandard", "QueueWakeBulk", "QueueTaskDefault", "QueueTaskMail"),
  ],
  DeadTasks: [...records, ...sending("WakeStandard", "WakeBulk", "DeadTask", "Dead"), ...taking("DeadTask")],
};

describe("what each function may do", () => {
  it("is known of all of them", () => {
    expect(Object.keys(expected).sort()).toEqual(functions);
  });

  it.each(Object.keys(expected))("is what its verb does, and no more: %s", (name) => {
    const wanted = new Set([...(expected[name] ?? []), ...always(name)]);
    expect([...new Set(rightsOf(template, `${name}Role`))].sort()).toEqual([...wanted].sort());
  });

  it("has no wildcard in an action, and in a resource only X-Ray's, which know none, and the objects of the bucket", () => {
    const roles = idsOf(template, "AWS::IAM::Role");
    expect(roles).toHaveLength(7);
    const rights = roles.flatMap((role) => statementsOf(template, role));
    expect(rights.flatMap(({ actions }) => actions).filter((action) => action.includes("*"))).toEqual([]);
    const wild = rights.filter(({ resources }) => resources.some((resource) => resource.includes("*")));
    for (const { actions, resources } of wild) {
      if (resources.includes("*")) expect(actions.every((action) => action.startsWith("xray:"))).toBe(true);
      else expect(resources).toEqual(["<Payloads>/*"]);
    }
  });

  it("comes from no policy of AWS's, which reach all of an account", () => {
    for (const role of Object.values(all(template, "AWS::IAM::Role"))) expect(role.ManagedPolicyArns).toBeUndefined();
  });

  it("never deletes, scans, or changes the table, the queues or the functions", () => {
    const actions = functions.flatMap((name) => statementsOf(template, `${name}Role`)).flatMap((each) => each.actions);
    const refused = /Delete(?!Message$)|Scan|Purge|CreateTable|UpdateTable|BatchWrite|Transact|lambda:|iam:|PartiQL/;
    expect(actions.filter((action) => refused.test(action))).toEqual([]);
  });
});

describe("a key of one's own", () => {
  const keyed = synthesized((stack) => ({ kmsKey: new Key(stack, "Key"), groups: { default: {}, mail: {} } }));
  const isKey = (value: Json) => nameOf(value["Fn::GetAtt"][0]) === "Key";

  it("encrypts the table, every queue but the schedule's, the bucket and every log group", () => {
    const [table] = Object.values(all(keyed, "AWS::DynamoDB::GlobalTable"));
    expect(table.SSESpecification).toEqual({ SSEEnabled: true, SSEType: "KMS" });
    expect(isKey(table.Replicas[0].SSESpecification.KMSMasterKeyId)).toBe(true);
    const queues = Object.entries(all(keyed, "AWS::SQS::Queue"));
    for (const [id, queue] of queues) {
      if (nameOf(id) === "ScheduleDead") expect(queue.SqsManagedSseEnabled).toBe(true);
      else expect(isKey(queue.KmsMasterKeyId)).toBe(true);
    }
    const [bucket] = Object.values(all(keyed, "AWS::S3::Bucket"));
    const [rule] = bucket.BucketEncryption.ServerSideEncryptionConfiguration;
    expect(rule.BucketKeyEnabled).toBe(true);
    expect(isKey(rule.ServerSideEncryptionByDefault.KMSMasterKeyID)).toBe(true);
    const groups = Object.values(all(keyed, "AWS::Logs::LogGroup"));
    expect(groups.length).toBe(7);
    for (const group of groups) expect(isKey(group.KmsKeyId)).toBe(true);
  });

  it("may be used by the functions through the services that hold the data, and by CloudWatch for this account's log groups", () => {
    for (const name of idsOf(keyed, "AWS::Lambda::Function")) {
      const uses = statementsOf(keyed, `${name}Role`).filter(({ actions }) =>
        actions.some((action) => action.startsWith("kms:")),
      );
      const via = uses.map(
        ({ condition }) => JSON.stringify(condition.StringEquals["kms:ViaService"]).match(/(dynamodb|sqs|s3)/)?.[0],
      );
      const services = name === "Watchdog" || name === "DeadTasks" ? ["dynamodb", "sqs"] : ["dynamodb", "s3", "sqs"];
      expect([...new Set(via)].sort()).toEqual(services);
      for (const { resources, actions } of uses) {
        expect(resources).toEqual(["<Key>"]);
        expect(actions.filter((action) => action.includes("*"))).toEqual([]);
      }
    }
    const [key] = Object.values(all(keyed, "AWS::KMS::Key"));
    const logs = key.KeyPolicy.Statement.find(({ Principal: principal }: Json) =>
      JSON.stringify(principal).includes("logs."),
    );
    expect(JSON.stringify(logs.Condition)).toContain("kms:EncryptionContext:aws:logs:arn");
  });
});
