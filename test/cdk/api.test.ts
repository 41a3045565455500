import { fileURLToPath } from "node:url";
import { App, Stack } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { describe, expect, it } from "vitest";
import { Tickwright, type TickwrightProps } from "../../cdk/tickwright.ts";
import { envNames } from "../../lib/aws/names.ts";

const workflows = fileURLToPath(new URL("./workflows.ts", import.meta.url));

/** Without bundling: what esbuild makes is tested on the deployed stack. */
function synthesized(props: Partial<TickwrightProps> = {}): Template {
  const app = new App({ context: { "aws:cdk:bundling-stacks": [] } });
  const stack = new Stack(app, "Test");
  new Tickwright(stack, "Tickwright", { workflows, ...props });
  return Template.fromStack(stack);
}

type Properties = Record<string, unknown>;
const propertiesOf = (template: Template, type: string): readonly Properties[] =>
  Object.values(template.findResources(type)).map(({ Properties }) => Properties as Properties);
const routesOf = (template: Template) => propertiesOf(template, "AWS::ApiGatewayV2::Route");

/** Every action that the api function's role allows, with the resources as text. */
function grantsOf(template: Template): Record<string, string> {
  const policies = Object.entries(template.findResources("AWS::IAM::Policy"));
  const [, policy] = policies.find(([id]) => id.startsWith("TickwrightApiRole")) ?? [];
  const statements = (policy?.["Properties"].PolicyDocument.Statement ?? []) as {
    readonly Action: string | string[];
    readonly Resource: unknown;
  }[];
  return Object.fromEntries(
    statements.flatMap(({ Action, Resource }) => [Action].flat().map((action) => [action, JSON.stringify(Resource)])),
  );
}

const plain = synthesized();
const jwt = { issuer: "https://issuer.example", audience: ["tickwright"], tenantClaim: "org" };

describe("the API of an installation", () => {
  it("is there unless said otherwise, and every address of it wants a signature", () => {
    plain.resourceCountIs("AWS::ApiGatewayV2::Api", 1);
    const routes = routesOf(plain);
    expect(routes.map(({ RouteKey }) => RouteKey).sort()).toEqual(
      ["DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"].map((method) => `${method} /{address+}`),
    );
    expect(routes.map(({ AuthorizationType }) => AuthorizationType)).toEqual(routes.map(() => "AWS_IAM"));
  });

  it("is not there at all when nobody wants it, the function neither", () => {
    const without = synthesized({ api: "none" });
    without.resourceCountIs("AWS::ApiGatewayV2::Api", 0);
    expect(propertiesOf(without, "AWS::Lambda::Function")).toHaveLength(
      propertiesOf(plain, "AWS::Lambda::Function").length - 1,
    );
  });

  it("takes tokens instead of signatures, and tells the function which claim names the tenant", () => {
    const template = synthesized({ api: { jwt } });
    const routes = routesOf(template);
    expect(routes).toHaveLength(6);
    for (const route of routes) expect(route["AuthorizationType"]).toBe("JWT");
    template.hasResourceProperties("AWS::ApiGatewayV2::Authorizer", {
      AuthorizerType: "JWT",
      JwtConfiguration: { Issuer: jwt.issuer, Audience: jwt.audience },
    });
    template.hasResourceProperties("AWS::Lambda::Function", {
      Environment: { Variables: Match.objectLike({ [envNames.tenantClaim]: "org" }) },
    });
    expect(JSON.stringify(plain.toJSON())).not.toContain(envNames.tenantClaim);
  });

  it("is throttled, and says in a log of its own who asked for what", () => {
    plain.hasResourceProperties("AWS::ApiGatewayV2::Stage", {
      StageName: "$default",
      DefaultRouteSettings: { ThrottlingRateLimit: 50, ThrottlingBurstLimit: 100 },
      AccessLogSettings: { DestinationArn: Match.anyValue(), Format: Match.stringLikeRegexp("requestId") },
    });
  });

  it("lets no web page call it, unless named: then the page sees the entity tag and may send it back (H9)", () => {
    expect(propertiesOf(plain, "AWS::ApiGatewayV2::Api")[0]?.["CorsConfiguration"]).toBeUndefined();
    const template = synthesized({ api: { origins: ["https://desk.example"] } });
    template.hasResourceProperties("AWS::ApiGatewayV2::Api", {
      CorsConfiguration: {
        AllowOrigins: ["https://desk.example"],
        ExposeHeaders: Match.arrayWith(["etag"]),
        AllowHeaders: Match.arrayWith(["if-match", "idempotency-key"]),
      },
    });
  });

  it("may write records, send a run's first messages and keep payloads: nothing else", () => {
    const grants = grantsOf(plain);
    expect(Object.keys(grants).sort()).toEqual([
      "dynamodb:BatchGetItem",
      "dynamodb:GetItem",
      "dynamodb:PutItem",
      "dynamodb:Query",
      "dynamodb:UpdateItem",
      "logs:CreateLogStream",
      "logs:PutLogEvents",
      "s3:GetObject",
      "s3:ListBucket",
      "s3:PutObject",
      "s3:PutObjectTagging",
      "sqs:SendMessage",
      "xray:PutTelemetryRecords",
      "xray:PutTraceSegments",
    ]);
    expect(grants["sqs:SendMessage"]).toContain("QueueWakeStandard");
    expect(grants["sqs:SendMessage"]).toContain("QueueTaskDefault");
    expect(grants["sqs:SendMessage"]).not.toMatch(/QueueWatch|QueueDead/);
    expect(grants["dynamodb:Query"]).not.toContain("index");
  });
});
