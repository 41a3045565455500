import { fileURLToPath } from "node:url";
import { App, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Tickwright, type TickwrightProps } from "../../cdk/tickwright.ts";

export const workflows = fileURLToPath(new URL("./workflows.ts", import.meta.url));
export const entry = fileURLToPath(new URL("./entry.ts", import.meta.url));

/** An app that synthesizes without bundling: what esbuild makes is tested in bundles.test.ts and on the deployed stack. */
export function createApp(context: Readonly<Record<string, unknown>> = {}): App {
  return new App({ context: { "aws:cdk:bundling-stacks": [], ...context } });
}

type Props = Partial<TickwrightProps> | ((stack: Stack) => Partial<TickwrightProps>);

export function stackWith(props: Props = {}, app: App = createApp()): Stack {
  const stack = new Stack(app, "Test");
  const given = typeof props === "function" ? props(stack) : props;
  const { groups = { default: {} } } = given;
  new Tickwright(stack, "Engine", {
    workflows,
    ...given,
    coordinator: { entry, ...given.coordinator },
    watchdog: { entry, ...given.watchdog },
    deadTasks: { entry, ...given.deadTasks },
    api: given.api ?? { entry },
    groups: Object.fromEntries(
      Object.entries(groups).map(([group, options]) => [group, { entry, isKept: group !== "default", ...options }]),
    ),
  });
  return stack;
}

export function synthesized(props: Props = {}, app: App = createApp()): Template {
  return Template.fromStack(stackWith(props, app));
}

/** Loosely typed on purpose: a template is JSON that the tests look into. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Json = any;

/** The properties of every resource of a type, by logical id. */
export function all(template: Template, type: string): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    Object.entries(template.findResources(type)).map(([id, { Properties }]) => [id, Properties ?? {}]),
  );
}

/** Logical ids without the hash at their end. */
export function idsOf(template: Template, type: string): readonly string[] {
  return Object.keys(all(template, type)).map(nameOf).sort();
}

/** `EngineQueueWatchD671CBE7` is `QueueWatch`. */
export function nameOf(id: string): string {
  return id.replace(/^Engine/, "").replace(/[0-9A-F]{8}$/, "");
}

/** What a reference or an attribute leads to. */
export function targetOf(value: Json): string {
  return nameOf(value?.Ref ?? [value?.["Fn::GetAtt"]].flat()[0] ?? String(value));
}

export interface Statement {
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  readonly condition: Json;
}

/** Every statement of a role, inline or attached; resources as text, references in angle brackets. */
export function statementsOf(template: Template, role: string): readonly Statement[] {
  const attached = Object.values(all(template, "AWS::IAM::Policy"))
    .filter(({ Roles: roles }) => roles.some((each: Json) => targetOf(each) === role))
    .map(({ PolicyDocument: document }) => document);
  const inline = Object.entries(all(template, "AWS::IAM::Role"))
    .filter(([id]) => nameOf(id) === role)
    .flatMap(([, { Policies: policies = [] }]) => policies.map(({ PolicyDocument: document }: Json) => document));
  return [...attached, ...inline].flatMap(({ Statement: statements }) =>
    statements.map(({ Action: action, Resource: resource, Condition: condition }: Json) => ({
      actions: [action].flat(),
      resources: [resource].flat().map(plain),
      condition,
    })),
  );
}

/** `action on resource` of every statement of a role. */
export function rightsOf(template: Template, role: string): readonly string[] {
  return statementsOf(template, role)
    .flatMap(({ actions, resources }) =>
      actions.flatMap((action) => resources.map((resource) => `${action} ${resource}`)),
    )
    .sort();
}

function plain(value: Json): string {
  if (typeof value === "string") return value;
  if (value["Fn::Join"]) return value["Fn::Join"][1].map(plain).join("");
  return `<${targetOf(value)}>`;
}

/** The environment of every function, by its name. */
export function environmentsOf(template: Template): Readonly<Record<string, Readonly<Record<string, Json>>>> {
  return Object.fromEntries(
    Object.entries(all(template, "AWS::Lambda::Function")).map(
      ([
        id,
        {
          Environment: { Variables: variables },
        },
      ]) => [nameOf(id), variables],
    ),
  );
}
