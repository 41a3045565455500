import { fileURLToPath } from "node:url";
import { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import type { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import { describe, expect, expectTypeOf, it } from "vitest";
import { TickwrightStack } from "../../cdk/stack.ts";
import { Tickwright, type TickwrightProps } from "../../cdk/tickwright.ts";
import { envNames } from "../../lib/aws/names.ts";
import { all, createApp, entry, synthesized, workflows } from "./synthesis.ts";

describe("the workflows of an installation", () => {
  const long = fileURLToPath(new URL("./long-workflows.ts", import.meta.url));
  const timeoutsOf = (props: Partial<TickwrightProps>) => {
    const template = Template.fromStack(new TickwrightStack(createApp(), "Test", { workflows: long, ...props }));
    return Object.fromEntries(
      Object.values(all(template, "AWS::Lambda::Function")).map((fn) => [
        fn.Environment.Variables[envNames.group] ?? fn.Description,
        fn.Timeout,
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
});

describe("the types of an installation", () => {
  const options = {
    workflows,
    coordinator: { entry },
    watchdog: { entry },
    deadTasks: { entry },
    api: "none",
  } as const;

  it("know the workers by the groups that one gave, and no others", () => {
    const engine = new Tickwright(new Stack(createApp(), "Test"), "Engine", {
      ...options,
      groups: { default: { entry }, mail: { entry, isKept: true } },
    });
    expectTypeOf(engine.workers.mail).toEqualTypeOf<NodejsFunction>();
    // @ts-expect-error no group has this name
    expect(engine.workers.mial).toBeUndefined();
    expect(engine.workers.default).toBeDefined();
  });

  it("ask for a choice for each group of a type parameter, and none without one", () => {
    type Props = TickwrightProps<"default" | "films">;
    expectTypeOf<{ default: object; films: object }>().toExtend<NonNullable<Props["groups"]>>();
    expectTypeOf<{ default: object }>().not.toExtend<NonNullable<Props["groups"]>>();
    expectTypeOf<Tickwright<"default" | "films">["workers"]>().toEqualTypeOf<
      Readonly<Record<"default" | "films", NodejsFunction>>
    >();
  });
});
