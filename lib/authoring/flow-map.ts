import type { ChildBody, MapNode, StepBody } from "../core/definition.ts";
import { fixed } from "../core/limits.ts";
import { isFunction, misfit, outputOf, sync } from "./added.ts";
import type { Build } from "./build.ts";
import { callIn, isCallee, partOf } from "./callee.ts";
import { addCompensation } from "./flow-work.ts";
import { lower } from "./lower.ts";
import { commonFields, type Given, nameOf } from "./node-options.ts";
import type { Ref } from "./ref.ts";

const concurrencyDefault = 8;

export function addMap(build: Build, items: unknown, body: unknown, options: Given): Ref<unknown> {
  const called = isCallee(body) ? undefined : callOfItem(build, body);
  const callee = isCallee(body) ? body : called?.callee;
  if (!callee) return misfit(build, "flow.map", "a step, a workflow, or a function that returns call(step, input)");
  const name = nameOf(build, options, callee.name);
  const input = called ? called.input : { $: ["ref", "$item"] };
  const { isInline: _, isRepeatable: __, ...part } = partOf(build, callee) as Omit<StepBody, "input">;
  build.add({
    kind: "map",
    ...commonFields(build, name, options, ["compensate", "concurrency", "tolerate"]),
    items: lower(items, `${name}: items`, build),
    body: { ...part, input } as StepBody | ChildBody,
    concurrency: (options["concurrency"] ?? concurrencyDefault) as number,
    ...toleranceOf(build, name, options["tolerate"]),
  });
  addCompensation(build, name, options);
  return outputOf(build, name);
}

/** Calls the function of a map once, with references to the item and its index, and lowers the input it makes of them. */
function callOfItem(build: Build, body: unknown) {
  if (!isFunction(body)) return undefined;
  return build.inScope("the function of a map", () => {
    const item = build.refer({ $: ["ref", "$item"] }, "item", { isUsed: true });
    const index = build.refer({ $: ["ref", "$index"] }, "index", { isUsed: true });
    const made = callIn(sync(build, "the function of a map", body(item, index)));
    return made && { callee: made.callee, input: lower(made.input, `${made.callee.name}: input`, build) };
  });
}

function toleranceOf(build: Build, name: string, tolerate: unknown): Pick<MapNode, "tolerate"> {
  if (tolerate === undefined) return {};
  if (typeof tolerate === "number") return { tolerate: { count: tolerate } };
  const [, percent] = /^(\d+(?:\.\d+)?)%$/.exec(String(tolerate)) ?? [];
  if (percent !== undefined) return { tolerate: { share: Number(percent) / 100 } };
  build.fault(`${name}: tolerate is a count from 0 to ${fixed.mapItemsMax}, or a share such as "10%"`);
  return {};
}
