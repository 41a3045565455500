import type { Expr } from "../core/definition.ts";
import { added, misfit } from "./added.ts";
import type { Build } from "./build.ts";
import { durationMend } from "./duration.ts";
import { lower } from "./lower.ts";
import { commonFields, type Given, nameOf, spanField } from "./node-options.ts";
import type { Ref } from "./ref.ts";
import { referenceOf } from "./reference.ts";
import type { Signal } from "./signal.ts";

export function addSignal(build: Build, signal: unknown, options: Given): Ref<unknown> {
  const known = signal as Signal<never, unknown> | undefined;
  if (referenceOf(signal) || known?.kind !== "signal") return misfit(build, "flow.signal", "a signal");
  const namesake = [...build.signals].find((other) => other !== known && other.name === known.name);
  if (namesake) build.fault(`two signals are called "${known.name}": rename one, or use the same twice`);
  build.use(known);
  const name = nameOf(build, options, known.name);
  const { timeout, onTimeout } = options;
  return added(build, {
    kind: "signal",
    ...commonFields(build, name, options, ["timeout", "onTimeout"]),
    signal: known.name,
    ...spanField(build, `${name}: timeout`, "timeoutMs", timeout),
    ...(onTimeout !== undefined && { onTimeout: onTimeout as "continue" }),
  });
}

export function addGate(build: Build, given: unknown, options: Given): Ref<unknown> {
  const name = nameOf(build, { name: given }, "gate");
  const { about, timeout, onTimeout, onReject } = options;
  return added(build, {
    kind: "gate",
    ...commonFields(build, name, options, ["about", "timeout", "onTimeout", "onReject"]),
    ...(about !== undefined && { about: lower(about, `${name}: about`, build) }),
    ...spanField(build, `${name}: timeout`, "timeoutMs", timeout),
    ...(onTimeout !== undefined && { onTimeout: onTimeout as "approve" }),
    ...(onReject !== undefined && onReject !== "fail" && { onReject: onReject as "continue" }),
  });
}

export function addSleep(build: Build, given: unknown, end: unknown, options: Given): Ref<unknown> {
  const name = nameOf(build, { name: given }, "sleep");
  return added(build, { kind: "sleep", ...commonFields(build, name, options, []), ...endOf(build, name, end) });
}

function endOf(build: Build, name: string, end: unknown): { readonly forMs: number } | { readonly until: Expr } {
  if (referenceOf(end)) {
    build.fault(`${name}: a reference is no duration: ${durationMend}, or { until: ref } for an instant from data`);
    return { forMs: 1 };
  }
  if (typeof end === "object" && end !== null && "until" in end) {
    return { until: lower(end.until, `${name}: until`, build) };
  }
  const { forMs = 1 } = spanField(build, `${name}: duration`, "forMs", end ?? "none");
  return { forMs };
}
