import { checkExpression, type Reader } from "./definition-expressions.ts";
import type { Place } from "./definition-fault.ts";
import {
  type Check,
  checkFields,
  type Fields,
  isWithin,
  must,
  only,
  optional,
  required,
  span,
  whole,
} from "./definition-fields.ts";
import { checkName } from "./definition-names.ts";
import { checkExternal, checkRepeat, checkStep, child, external, repeat, step, withSource } from "./definition-work.ts";
import { isJsonObject } from "./json.ts";
import { fixed } from "./limits.ts";

const checkAfter: Check = must(
  (value) => Array.isArray(value) && value.every((name) => typeof name === "string"),
  "must be a list of node names",
);

const wait: Fields = { timeoutMs: optional(span(1, fixed.waitMsMax)) };

const checkItems: Check = (value, place, reader) => {
  const sources = new Set<string>();
  checkExpression(value, place, (source) => {
    sources.add(JSON.stringify(source));
    return reader(source);
  });
  if (sources.size > 1) {
    place.fault(`reads ${[...sources].join(" and ")}: a map reads one source, so join them in a step before it`);
  }
  const isList = Array.isArray(value) || (isJsonObject(value) && Object.hasOwn(value, "$"));
  if (!isList) place.fault("must be a list: refer to one, or write one");
};

const checkTolerate: Check = (value, place, reader) => {
  const fields: Fields = {
    count: optional(whole(0, fixed.mapItemsMax)),
    share: optional(must((share) => isWithin(share, 0, 1), "must be a share from 0 to 1")),
  };
  if (!checkFields(value, fields, place, reader)) return;
  if (Object.keys(value).length !== 1) place.fault("must be either `{ count }` or `{ share }`");
};

const checkBody: Check = (value, place, reader) => {
  const inside: Reader = withSource(["$item", "$index"], reader);
  const kind = isJsonObject(value) ? value["kind"] : undefined;
  if (kind !== "step" && kind !== "child") place.at("kind").fault('the body of a map is a "step" or a "child"');
  else if (checkFields(value, { kind: required(only(kind)), ...(kind === "step" ? step : child) }, place, inside)) {
    if (kind === "step") checkStep(value, place);
    if (value["isInline"] === true)
      place.at("isInline").fault("items of a map go through the queue: leave isInline out");
  }
};

const kinds: { readonly [kind: string]: Fields } = {
  step,
  child,
  map: {
    items: required(checkItems),
    body: required(checkBody),
    concurrency: required(whole(1, fixed.mapConcurrencyMax)),
    tolerate: optional(checkTolerate),
  },
  repeat,
  external,
  sleep: { forMs: optional(span(1, fixed.waitMsMax)), until: optional(checkExpression) },
  signal: { ...wait, signal: required(checkName), onTimeout: optional(only("continue")) },
  gate: {
    ...wait,
    about: optional(checkExpression),
    onTimeout: optional(only("approve", "reject", "continue")),
    onReject: optional(only("continue")),
  },
};

const common: Fields = {
  kind: required(() => {}),
  name: required(checkName),
  after: optional(checkAfter),
  when: optional(checkExpression),
  onFailure: optional(only("continue")),
  oneOf: optional(checkName),
  compensates: optional(checkName),
};

/** Holds one node against the fields of its kind, but for what concerns other nodes. */
export function checkNode(node: unknown, place: Place, reader: Reader): void {
  const kind = isJsonObject(node) ? node["kind"] : undefined;
  if (typeof kind !== "string" || !Object.hasOwn(kinds, kind)) {
    place.at("kind").fault(`must be one of ${Object.keys(kinds).join(", ")}`);
  } else if (checkFields(node, { ...common, ...kinds[kind] }, place, reader)) {
    if (kind === "step") checkStep(node, place);
    if (kind === "repeat") checkRepeat(node, place);
    if (kind === "external") checkExternal(node, place);
    if (kind === "sleep" && (node["forMs"] === undefined) === (node["until"] === undefined)) {
      place.fault("a sleep has one end: either `forMs`, a duration, or `until`, an instant");
    }
    if (node["onTimeout"] !== undefined && node["timeoutMs"] === undefined) {
      place.at("onTimeout").fault("without a timeoutMs it never happens: set one, or leave onTimeout out");
    }
  }
}
