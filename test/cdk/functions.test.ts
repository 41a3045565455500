import { fileURLToPath } from "node:url";
import { RemovalPolicy } from "aws-cdk-lib";
import { type IVpc, SecurityGroup, Vpc } from "aws-cdk-lib/aws-ec2";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import { describe, expect, it } from "vitest";
import { bundlingOf } from "../../cdk/bundling.ts";
import { envNames } from "../../lib/aws/names.ts";
import { wiring } from "../../lib/aws/wiring.ts";
import { all, environmentsOf, idsOf, nameOf, rightsOf, synthesized, targetOf } from "./synthesis.ts";

const plain = synthesized();
const rich = synthesized({
  groups: { default: {}, mail: { memoryMb: 512, timeoutS: 90, environment: { MAIL: "smtp" } } },
});
const names = ["Api", "Coordinator", "DeadTasks", "Watchdog", "WorkerDefault", "WorkerMail"];

describe("the functions", () => {
  it("are the coordinator, the watchdog, the one for dead tasks, the API's, and a worker a group", () => {
    expect(idsOf(rich, "AWS::Lambda::Function")).toEqual(names);
  });

  it("run on Node 24 on Arm, traced, allow the loop that they are (L1), and repeat no call by themselves", () => {
    for (const template of [plain, rich]) {
      const functions = all(template, "AWS::Lambda::Function");
      for (const fn of Object.values(functions)) {
        expect(fn).toMatchObject({
          Runtime: "nodejs24.x",
          Architectures: ["arm64"],
          RecursiveLoop: "Allow",
          TracingConfig: { Mode: "Active" },
        });
      }
      const configs = Object.values(all(template, "AWS::Lambda::EventInvokeConfig"));
      expect(configs.map(({ FunctionName: name }) => targetOf(name)).sort()).toEqual(
        Object.keys(functions).map(nameOf).sort(),
      );
      for (const config of configs)
        expect(config).toMatchObject({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 });
    }
  });

  it("are told what the code reads, by the code's names, and nothing else", () => {
    for (const [name, variables] of Object.entries(environmentsOf(rich))) {
      const own = name.startsWith("Worker") ? [envNames.group] : [];
      const theirs = name === "WorkerMail" ? ["MAIL"] : [];
      expect(Object.keys(variables).sort()).toEqual(
        [
          envNames.table,
          envNames.queueBase,
          envNames.bucket,
          envNames.metrics,
          envNames.build,
          "NODE_OPTIONS",
          ...own,
          ...theirs,
        ].sort(),
      );
      expect(variables["NODE_OPTIONS"]).toBe("--enable-source-maps");
    }
    expect(environmentsOf(rich)["WorkerMail"]?.[envNames.group]).toBe("mail");
  });

  it("take a memory, a time-out and variables of their group, which cannot be the construct's", () => {
    const mail = Object.entries(all(rich, "AWS::Lambda::Function")).find(([id]) => nameOf(id) === "WorkerMail")?.[1];
    expect(mail).toMatchObject({ MemorySize: 512, Timeout: 90 });
    const environment = { NODE_OPTIONS: "--max-old-space-size=400" };
    expect(environmentsOf(synthesized({ coordinator: { environment } }))["Coordinator"]?.["NODE_OPTIONS"]).toBe(
      "--enable-source-maps --max-old-space-size=400",
    );
    expect(() => synthesized({ watchdog: { environment: { [envNames.table]: "other" } } })).toThrow(
      "The environment of Watchdog sets TICKWRIGHT_TABLE, which is the construct's: remove it",
    );
  });

  it("run in a VPC that their group names, with its security groups, and no other does", () => {
    const template = synthesized((stack) => {
      const vpc = new Vpc(stack, "Vpc") as IVpc;
      const securityGroups = [new SecurityGroup(stack, "Doors", { vpc })];
      return { groups: { default: {}, mail: { vpc, securityGroups } } };
    });
    for (const [id, { VpcConfig: network }] of Object.entries(all(template, "AWS::Lambda::Function"))) {
      if (nameOf(id) !== "WorkerMail") expect(network).toBeUndefined();
      else expect(network.SecurityGroupIds).toHaveLength(1);
    }
    const managed = Object.values(all(template, "AWS::IAM::Role")).flatMap(({ ManagedPolicyArns: arns = [] }) => arns);
    expect(JSON.stringify(managed)).toContain("service-role/AWSLambdaVPCAccessExecutionRole");
    expect(managed).toHaveLength(1);
  });

  it("may have a role of somebody's own, which gets the rights of the group", () => {
    const template = synthesized((stack) => ({
      groups: {
        default: { role: new Role(stack, "Mine", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") }) },
      },
    }));
    const rights = rightsOf(template, "Mine");
    expect(rights).toEqual(rightsOf(plain, "WorkerDefaultRole"));
    expect(rights.length).toBeGreaterThan(15);
    expect(idsOf(template, "AWS::IAM::Role")).not.toContain("WorkerDefaultRole");
  });

  it("log into groups of their own that forget after a month, or when one says, and go when one says", () => {
    for (const template of [plain, rich]) {
      const groups = all(template, "AWS::Logs::LogGroup");
      // the API has one more, of who asked for what
      expect(Object.keys(groups)).toHaveLength(Object.keys(all(template, "AWS::Lambda::Function")).length + 1);
      for (const group of Object.values(groups)) expect(group.RetentionInDays).toBe(30);
    }
    const short = synthesized({ logRetention: RetentionDays.ONE_WEEK, removalPolicy: RemovalPolicy.DESTROY });
    for (const group of Object.values(all(short, "AWS::Logs::LogGroup"))) expect(group.RetentionInDays).toBe(7);
    short.allResources("AWS::Logs::LogGroup", { DeletionPolicy: "Delete" });
  });

  it("space strikes wider than the longest time-out", () => {
    const environments = environmentsOf(synthesized({ groups: { default: {}, slow: { timeoutS: 900 } } }));
    for (const variables of Object.values(environments)) {
      expect(variables[envNames.limits]).toBe('{"strikeSpacingMs":960000}');
    }
    expect(() => synthesized({ limits: { strikeSpacingMs: 60_000 } })).toThrow("strikeSpacingMs must be more than");
  });
});

describe("the name of the build", () => {
  const buildsOf = (template: typeof plain) =>
    new Set(Object.values(environmentsOf(template)).map((env) => env[envNames.build]));

  it("is the same in all functions, and tells of their code and of nothing else", () => {
    expect(buildsOf(plain).size).toBe(1);
    expect([...buildsOf(plain)][0]).toMatch(/^[0-9a-f]{12}$/);
    expect(buildsOf(synthesized({ prefix: "other", tiers: ["standard", "bulk"] }))).toEqual(buildsOf(plain));
  });

  it.each(["coordinator", "watchdog", "deadTasks"] as const)("changes with the code of the %s", (name) => {
    const entry = fileURLToPath(new URL("./functions.test.ts", import.meta.url));
    expect(buildsOf(synthesized({ [name]: { entry } }))).not.toEqual(buildsOf(plain));
  });

  it("reaches the watchdog last, which wakes what is parked when a build is new: sooner, it would wake runs into the old code", () => {
    const functions = rich.findResources("AWS::Lambda::Function");
    const [watchdog] = Object.entries(functions).filter(([id]) => nameOf(id) === "Watchdog");
    const others = Object.keys(functions).filter((id) => nameOf(id) !== "Watchdog");
    expect(others).toHaveLength(5);
    expect(watchdog?.[1]["DependsOn"]).toEqual(expect.arrayContaining(others));
  });
});

describe("the watchdog", () => {
  it("is called every minute, never twice at once, without a repeat, and with a queue for calls that nobody takes", () => {
    const [schedule] = Object.values(all(plain, "AWS::Scheduler::Schedule"));
    expect(schedule).toMatchObject({
      ScheduleExpression: "rate(1 minute)",
      State: "ENABLED",
      Target: { RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 } },
    });
    expect(targetOf(schedule.Target.Arn)).toBe("Watchdog");
    expect(targetOf(schedule.Target.DeadLetterConfig.Arn)).toBe("ScheduleDead");
    expect(rightsOf(plain, "ScheduleRole")).toEqual([
      "lambda:InvokeFunction <Watchdog>",
      "sqs:SendMessage <ScheduleDead>",
    ]);
    const reserved = Object.entries(all(plain, "AWS::Lambda::Function")).map(([id, fn]) => [
      nameOf(id),
      fn.ReservedConcurrentExecutions,
    ]);
    expect(Object.fromEntries(reserved)).toEqual({
      Api: undefined,
      Coordinator: undefined,
      Watchdog: wiring.watchdogConcurrency,
      DeadTasks: undefined,
      WorkerDefault: undefined,
    });
  });

  it("has no mapping, so that its reservation is never below one (L6)", () => {
    const consumers = Object.values(all(rich, "AWS::Lambda::EventSourceMapping")).map(({ FunctionName: name }) =>
      targetOf(name),
    );
    expect(consumers).not.toContain("Watchdog");
    expect(consumers).toContain("DeadTasks");
  });

  it("is not reserved anything where an account has nothing to reserve", () => {
    const template = synthesized({ watchdog: { isReserved: false } });
    for (const fn of Object.values(all(template, "AWS::Lambda::Function")))
      expect(fn.ReservedConcurrentExecutions).toBeUndefined();
  });
});

describe("bundling options", () => {
  it("are laid over ours, but for what the code needs to run", () => {
    const made = bundlingOf("Worker", "/app/workflows.ts", {
      minify: false,
      define: { LEVEL: '"info"' },
      banner: "// ours",
      esbuildArgs: { "--alias": "left=./right", "--log-limit": "0" },
      // what TypeScript refuses, JavaScript does not
      ...({ format: "cjs", externalModules: ["@aws-sdk/*"], sourceMap: false, target: "es5" } as object),
    });
    expect(made).toMatchObject({
      minify: false,
      define: { LEVEL: '"info"' },
      format: "esm",
      target: "node24",
      externalModules: [],
      sourceMap: true,
      esbuildArgs: { "--alias": "left=./right", "--log-limit": "0", "--alias:#workflows": "/app/workflows.ts" },
    });
    expect(made.banner).toMatch(/createRequire.*\n\/\/ ours$/s);
  });

  it.each([
    [
      { "--external:@aws-sdk/*": true },
      "sets --external:@aws-sdk/*, which the functions depend on: remove it from esbuildArgs",
    ],
    [{ "--format": "cjs" }, "sets --format"],
    [{ "--packages": "external" }, "sets --packages"],
    [{ "--alias": "#workflows=./mine.ts" }, "name your file in `workflows` instead"],
    [{ "--alias": ["a=b", "#workflows=./mine.ts"] }, "name your file in `workflows` instead"],
    [{ "--alias:#workflows": "./mine.ts" }, "name your file in `workflows` instead"],
  ])("are refused at synthesis where they would undo that: %j", (esbuildArgs, message) => {
    expect(() => synthesized({ groups: { default: { bundling: { esbuildArgs } } } })).toThrow(message);
  });
});
