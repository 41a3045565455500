import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type App, type Stack, Validations } from "aws-cdk-lib";
import { Vpc } from "aws-cdk-lib/aws-ec2";
import { Key } from "aws-cdk-lib/aws-kms";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { AwsSolutionsChecks } from "cdk-nag";
import { describe, expect, it } from "vitest";
import { createApp, stackWith } from "./synthesis.ts";

/** What the pack finds in the construct and nobody has acknowledged. */
function findingsOf(props: Parameters<typeof stackWith>[0]): readonly string[] {
  const app = createApp();
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  stackWith(props, app);
  return findings(app);
}

function findings(app: App): readonly string[] {
  try {
    app.synth();
  } catch {
    // says that there are some
  }
  const report = JSON.parse(readFileSync(join(app.outdir, "validation-report.json"), "utf8"));
  const found: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const { ruleName, violatingConstructs = [], violatingResources = [] } = value as Record<string, never>;
    if (ruleName) {
      for (const { constructPath, resourceLogicalId } of [
        ...(violatingConstructs as []),
        ...(violatingResources as []),
      ]) {
        found.push(`${ruleName} ${constructPath ?? resourceLogicalId}`);
      }
    }
    for (const inside of Object.values(value)) collect(inside);
  };
  collect(report);
  return [...new Set(found)].sort();
}

const vpc = {
  vpcId: "vpc-0123456789abcdef0",
  availabilityZones: ["eu-west-1a"],
  privateSubnetIds: ["subnet-0123456789abcdef0"],
};

const cases = {
  "as it comes": {},
  "with a key, more tiers and groups": (stack: Stack) => ({
    kmsKey: new Key(stack, "Key", { enableKeyRotation: true }),
    tiers: ["standard", "bulk"] as const,
    groups: { default: {}, mail: {} },
  }),
  "with a bucket and a VPC of one's own": (stack: Stack) => ({
    bucket: Bucket.fromBucketName(stack, "Ours", "ours"),
    groups: { default: { vpc: Vpc.fromVpcAttributes(stack, "Vpc", vpc) } },
  }),
};

describe("cdk-nag's AwsSolutions", () => {
  it.each(Object.entries(cases))("finds nothing that is not acknowledged with a reason: %s", (_, props) => {
    expect(findingsOf(props)).toEqual([]);
  });

  it("would find a bucket that is not ours", () => {
    const app = createApp();
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    new Bucket(stackWith({}, app), "Open");
    expect(findings(app).length).toBeGreaterThan(0);
  });
});
