import { RemovalPolicy, Stack } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { describe, expect, it } from "vitest";
import { payloadRules, Tickwright } from "../../cdk/tickwright.ts";
import { envNames, indexes, keepDays, keepDaysTag, tableKeys } from "../../lib/aws/names.ts";
import { all, createApp, entry, environmentsOf, idsOf, rightsOf, synthesized, workflows } from "./synthesis.ts";

const plain = synthesized();

describe("the table", () => {
  it("has the frozen keys, both keys-only indexes, expiry and point-in-time recovery, and is kept", () => {
    plain.hasResource("AWS::DynamoDB::GlobalTable", {
      DeletionPolicy: "Retain",
      UpdateReplacePolicy: "Retain",
      Properties: {
        BillingMode: "PAY_PER_REQUEST",
        TableName: Match.absent(),
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

  it("goes with the construct, unprotected, only when one says so", () => {
    const template = synthesized({ removalPolicy: RemovalPolicy.DESTROY });
    template.hasResource("AWS::DynamoDB::GlobalTable", {
      DeletionPolicy: "Delete",
      Properties: { Replicas: [Match.objectLike({ DeletionProtectionEnabled: false })] },
    });
  });

  it("has no replica in another region: the last writer would win (D18)", () => {
    const [table] = Object.values(all(plain, "AWS::DynamoDB::GlobalTable"));
    expect(table.Replicas).toHaveLength(1);
  });

  it("may be a restored one: no other is made, and every function knows it and may use it and its index", () => {
    const tableArn = "arn:aws:dynamodb:eu-west-1:123456789012:table/restored";
    const template = synthesized((stack) => ({ table: TableV2.fromTableAttributes(stack, "Restored", { tableArn }) }));
    template.resourceCountIs("AWS::DynamoDB::GlobalTable", 0);
    for (const environment of Object.values(environmentsOf(template)))
      expect(environment[envNames.table]).toBe("restored");
    for (const name of ["Api", "Coordinator", "Watchdog", "DeadTasks", "WorkerDefault"]) {
      expect(rightsOf(template, `${name}Role`)).toContain(`dynamodb:UpdateItem ${tableArn}`);
    }
    expect(rightsOf(template, "WatchdogRole")).toContain(`dynamodb:Query ${tableArn}/index/${indexes.due.name}`);
    const names = JSON.stringify(all(template, "AWS::CloudWatch::Alarm"));
    expect(names).toContain('{"Name":"TableName","Value":"restored"}');
  });
});

describe("the bucket for payloads", () => {
  it("is private, encrypted, kept, without a name, with a rule for each class of expiry", () => {
    plain.hasResource("AWS::S3::Bucket", {
      DeletionPolicy: "Retain",
      Properties: {
        BucketName: Match.absent(),
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } }],
        },
      },
    });
    const [bucket] = Object.values(all(plain, "AWS::S3::Bucket"));
    const rules = bucket.LifecycleConfiguration.Rules;
    expect(rules.map(({ ExpirationInDays: days, TagFilters: tags }: never) => [days, tags])).toEqual([
      ...keepDays.map((days) => [days, [{ Key: keepDaysTag, Value: String(days) }]]),
      [undefined, undefined],
    ]);
    expect(rules.at(-1)).toMatchObject({
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
      Status: "Enabled",
    });
  });

  it("is not there if one wants none, and no function is told of one or may touch one", () => {
    const template = synthesized({ bucket: "none" });
    template.resourceCountIs("AWS::S3::Bucket", 0);
    for (const [name, environment] of Object.entries(environmentsOf(template))) {
      expect(environment).not.toHaveProperty(envNames.bucket);
      expect(rightsOf(template, `${name}Role`).filter((right) => right.startsWith("s3:"))).toEqual([]);
    }
  });

  it("may be another one, which can have the same rules", () => {
    const template = synthesized((stack) => ({ bucket: Bucket.fromBucketName(stack, "Ours", "ours") }));
    template.resourceCountIs("AWS::S3::Bucket", 0);
    expect(environmentsOf(template)["WorkerDefault"]).toMatchObject({ [envNames.bucket]: "ours" });
    expect(rightsOf(template, "WorkerDefaultRole")).toContain("s3:PutObject arn:<AWS::Partition>:s3:::ours/*");
    const made = synthesized((stack) => ({ bucket: new Bucket(stack, "Made", { lifecycleRules: [...payloadRules] }) }));
    const [ours] = Object.values(all(plain, "AWS::S3::Bucket"));
    const [theirs] = Object.values(all(made, "AWS::S3::Bucket"));
    expect(theirs.LifecycleConfiguration).toEqual(ours.LifecycleConfiguration);
  });
});

describe("names", () => {
  it("are CloudFormation's for all but the queues", () => {
    const named = Object.values(plain.toJSON()["Resources"] as Record<string, { Type: string; Properties?: object }>)
      .filter(({ Properties: properties = {} }) =>
        [
          "TableName",
          "BucketName",
          "FunctionName",
          "RoleName",
          "LogGroupName",
          "AlarmName",
          "DashboardName",
          "QueueName",
          "Name",
        ].some(
          (name) => name in properties && !(name === "FunctionName" && typeof (properties as never)[name] === "object"),
        ),
      )
      .map(({ Type: type }) => type);
    // an API's name is a title, and need not be the only one
    expect(new Set(named)).toEqual(new Set(["AWS::SQS::Queue", "AWS::ApiGatewayV2::Api"]));
    expect(idsOf(plain, "AWS::SQS::Queue")).toHaveLength(6);
  });

  it("are those of the stack and of the construct's path, so that no two installations of an account meet", () => {
    const namesOf = (...[props, app]: Parameters<typeof synthesized>) =>
      Object.values(all(synthesized(props, app), "AWS::SQS::Queue")).flatMap(({ QueueName: name }) => name ?? []);
    const names = namesOf();
    expect(
      new Set(names.map((name) => name.replace(/-(dead|dead-task|watch|wake-standard|task-default)$/, ""))),
    ).toEqual(new Set(["Test-Engine-1A8FF6E3"]));
    for (const name of names) expect(name.length).toBeLessThanOrEqual(80);
    expect(namesOf({ prefix: "mine" })).toContain("mine-watch");
  });

  it("refuse a prefix that no queue can have", () => {
    expect(() => synthesized({ prefix: "under_score" })).toThrow("letters, digits and hyphens");
    expect(() => synthesized({ prefix: "x".repeat(40) })).toThrow("1 to 39");
  });

  it("are two in a stack with two installations, and are shortened where the name of a stack is long", () => {
    const stack = new Stack(createApp(), "Test", { stackName: `production-${"x".repeat(100)}` });
    const options = {
      workflows,
      coordinator: { entry },
      watchdog: { entry },
      deadTasks: { entry },
      api: "none" as const,
      groups: { default: { entry } },
    };
    const one = new Tickwright(stack, "One", options);
    new Tickwright(stack, "Two", options);
    expect(one.workers.default).toBeDefined();
    const names = Object.values(all(Template.fromStack(stack), "AWS::SQS::Queue")).flatMap(
      ({ QueueName: name }) => name ?? [],
    );
    expect(names).toHaveLength(10);
    expect(new Set(names).size).toBe(10);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9-]{1,80}$/);
  });
});
