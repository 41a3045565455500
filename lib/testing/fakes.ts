import type { Callable } from "../authoring/callable.ts";
import { type Duration, durationMend, durationMs } from "../authoring/duration.ts";
import type { External } from "../authoring/external.ts";
import type { Handling, handling } from "../authoring/step.ts";
import type { StepContext } from "../core/registry.ts";

/** What a fake can do beside answering. */
export interface FakeKit {
  /** Calls the function that the fake stands for. A faked child has none. */
  real(): Promise<unknown>;
  /** Passes virtual time. */
  sleep(duration: Duration): Promise<void>;
  /** The worker dies here: nothing that this attempt does reaches anybody any more. */
  die(): Promise<never>;
  /** Never answers. Virtual time goes on, up to the time-out. */
  hang(): Promise<never>;
}

/**
 * Stands for the function of a step, for what begins an external, or for a whole child run: gets what that would get, and gives what
 * it would give. The schemas around a step stay: input and output are checked as in production.
 */
export type Fake<In = never, Out = unknown> = (input: In, context: StepContext, kit: FakeKit) => Out | Promise<Out>;

/** Fakes by the name of the step (`charge`, or `charge@2` for one version of it) or of the child workflow. */
export interface Fakes {
  readonly [name: string]: Fake;
}

/** Answers with this, at every attempt. */
export function succeed<const Out>(output: Out): Fake<unknown, Out> {
  return () => output;
}

/** Fails with this, at every attempt. With a `FatalError` the node fails at once, as in production. */
export function fail(error: Error | string): Fake<unknown, never> {
  return () => {
    throw typeof error === "string" ? new Error(error) : error;
  };
}

/** Does this at the first attempt of each node and item, and after that what is given second; unless given, the real function. */
export function once<In, Out>(first: Fake<In, Out>, then: Fake<In, Out> = real): Fake<In, Out> {
  return byAttempt([first, then]);
}

/** Does one thing after the other, attempt by attempt of each node and item; the last of them for all further attempts. */
export function byAttempt<In, Out>(fakes: readonly [Fake<In, Out>, ...Fake<In, Out>[]]): Fake<In, Out> {
  return (input, context, kit) => (fakes[context.attempt - 1] ?? fakes[fakes.length - 1]!)(input, context, kit);
}

/** Does it after so much virtual time: behind the step's time-out it comes too late. */
export function late<In, Out>(delay: Duration, then: Fake<In, Out> = real): Fake<In, Out> {
  if (durationMs(delay) === undefined) throw new RangeError(`${JSON.stringify(delay)} is no duration: ${durationMend}`);
  return async (input, context, kit) => {
    await kit.sleep(delay);
    return then(input, context, kit);
  };
}

/** Never answers, so the attempt times out. */
export const hang: Fake<unknown, never> = (_, __, kit) => kit.hang();

/** Takes the worker down in the middle of the attempt; it is noticed when the lease has run out. */
export const crash: Fake<unknown, never> = (_, __, kit) => kit.die();

/** Calls the real function. */
export const real: Fake<unknown, never> = (_, __, kit) => kit.real() as Promise<never>;

/** The fakes that fit a group of steps, externals and workflows, by the names under which the group has them. */
export type FakesFor<Group> = {
  readonly [Name in keyof Group as Group[Name] extends Named ? Name : never]?: FakeOf<Group[Name]>;
};

type Named = { readonly kind: "step" | "external" | "workflow"; readonly name: string; readonly version?: string };

type FakeOf<Work> = typeof handling extends keyof Work
  ? Work extends Handling<infer Taken, infer Given>
    ? Fake<Taken, Given>
    : never
  : Work extends Callable<infer In, infer Out>
    ? Fake<In, null extends Out ? Out | undefined | Promise<void> : Out>
    : Work extends External<infer In, unknown>
      ? Fake<In>
      : never;

/**
 * Typed fakes for steps or child workflows that are imported: `fakes(steps, { charge: succeed({ receiptId: "r-1" }) })` with
 * `import * as steps from "./steps.ts"`. Inputs and outputs are those of the steps; other exports of the group are passed over.
 */
export function fakes<Group extends object>(group: Group, by: FakesFor<Group>): Fakes {
  const named = new Map(Object.entries(group).filter((entry): entry is [string, Named] => isNamed(entry[1])));
  return Object.fromEntries(
    Object.entries(by).map(([name, fake]) => {
      const work = named.get(name);
      if (!work) throw new Error(`there is no "${name}" to fake among ${[...named.keys()].join(", ")}`);
      return [work.kind === "workflow" ? work.name : `${work.name}@${work.version}`, fake as Fake];
    }),
  );
}

const isNamed = (value: unknown): value is Named =>
  typeof value === "object" &&
  value !== null &&
  "kind" in value &&
  ["step", "external", "workflow"].includes(String(value.kind));
