import { fileURLToPath } from "node:url";
import { App, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { EventBus, type IEventBus } from "aws-cdk-lib/aws-events";
import { describe, expect, it } from "vitest";
import { Tickwright } from "../../cdk/tickwright.ts";
import { envNames } from "../../lib/aws/names.ts";

const workflows = fileURLToPath(new URL("./workflows.ts", import.meta.url));

/** Without bundling: what esbuild makes is tested on the deployed stack. */
function synthesized(events: (scope: Stack) => IEventBus | boolean | undefined) {
  const app = new App({ context: { "aws:cdk:bundling-stacks": [] } });
  const stack = new Stack(app, "Test");
  const given = events(stack);
  const engine = new Tickwright(stack, "Tickwright", { workflows, ...(given !== undefined && { events: given }) });
  return { template: Template.fromStack(stack), engine, stack };
}

/** The functions that are told of a bus, by the start of their ids, with what they are told. */
function told(template: Template): Record<string, unknown> {
  const functions = Object.entries(template.findResources("AWS::Lambda::Function"));
  return Object.fromEntries(
    functions.flatMap(([id, { Properties }]) => {
      const bus = Properties.Environment?.Variables?.[envNames.eventBus];
      return bus === undefined ? [] : [[id.replace(/^Tickwright|[0-9A-F]{8}$/g, ""), bus]];
    }),
  );
}

/** Resources on which somebody may put events. */
function putOn(template: Template): readonly unknown[] {
  return Object.values(template.findResources("AWS::IAM::Policy")).flatMap(({ Properties }) =>
    (Properties.PolicyDocument.Statement as { Action: string | string[]; Resource: unknown }[]).flatMap(
      ({ Action, Resource }) => ([Action].flat().includes("events:PutEvents") ? [Resource] : []),
    ),
  );
}

describe("events of an installation", () => {
  it.each([undefined, false])("are off with %s: no bus, no name of one, no permission", (events) => {
    const { template, engine } = synthesized(() => events);
    template.resourceCountIs("AWS::Events::EventBus", 0);
    expect(told(template)).toEqual({});
    expect(putOn(template)).toEqual([]);
    expect(engine.eventBus).toBeUndefined();
  });

  it("go on a bus of its own, on which every function that ticks may put them, and on no other", () => {
    const { template, engine, stack } = synthesized(() => true);
    template.resourceCountIs("AWS::Events::EventBus", 1);
    const arn = stack.resolve(engine.eventBus?.eventBusArn);
    expect(told(template)).toEqual({ Coordinator: arn, WorkerDefault: arn, DeadTasks: arn, Api: arn });
    expect(putOn(template)).toEqual([arn, arn, arn, arn]);
  });

  it("go on a bus that was handed in, also one of another account", () => {
    const arn = "arn:aws:events:eu-central-1:210987654321:event-bus/company";
    const { template } = synthesized((scope) => EventBus.fromEventBusArn(scope, "Company", arn));
    template.resourceCountIs("AWS::Events::EventBus", 0);
    expect(told(template)).toEqual({ Coordinator: arn, WorkerDefault: arn, DeadTasks: arn, Api: arn });
    expect(putOn(template)).toEqual([arn, arn, arn, arn]);
  });
});
