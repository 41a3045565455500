import { reservedKinds } from "./definition.ts";
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
import { isJsonObject } from "./json.ts";
import { defaultLimits, fixed } from "./limits.ts";

/** Names of workflows, nodes, groups and signals. They end up in record keys, metrics and addresses. */
const namePattern = /^[A-Za-z0-9._-]{1,64}$/;

/** A name by the rule that holds everywhere. */
export const checkName: Check = must(
  (value) => typeof value === "string" && namePattern.test(value),
  "must be a name of 1 to 64 letters, digits, dots, underscores and hyphens",
);
const checkHandler: Check = must((value) => {
  const [name = "", version = "", ...more] = typeof value === "string" ? value.split("@") : [];
  return namePattern.test(name) && namePattern.test(version) && more.length === 0;
}, "must be `name@version`, both of letters, digits, dots, underscores and hyphens");
const checkHash: Check = must(
  (value) => typeof value === "string" && /^[0-9a-f]{32}$/.test(value),
  "must be the hash of the child's definition, 32 hexadecimal characters",
);
const checkAfter: Check = must(
  (value) => Array.isArray(value) && value.every((name) => typeof name === "string"),
  "must be a list of node names",
);

const retry: Fields = {
  attempts: required(whole(1, fixed.attemptsMax)),
  firstDelayMs: required(span(0, fixed.waitMsMax)),
  longestDelayMs: required(span(0, fixed.waitMsMax)),
  factor: required(must((value) => isWithin(value, 1, 100), "must be a number from 1 to 100")),
  jitter: required(must((value) => isWithin(value, 0, 1), "must be a share from 0 to 1")),
};

const checkRetry: Check = (value, place, reader) => {
  if (!checkFields(value, retry, place, reader)) return;
  if (Number(value["longestDelayMs"]) < Number(value["firstDelayMs"])) {
    place.at("longestDelayMs").fault("is shorter than firstDelayMs: raise it or lower the first");
  }
};

const attemptMsMax = fixed.functionMsMax - defaultLimits.reserveMs;

const step: Fields = {
  handler: required(checkHandler),
  group: required(checkName),
  input: required(checkExpression),
  retry: required(checkRetry),
  timeoutMs: required((value, place, reader) => {
    if (Number.isInteger(value) && (value as number) > attemptMsMax) {
      place.fault(
        `no function can hold an attempt longer than ${attemptMsMax} ms: split the step, or wait for a signal`,
      );
    } else span(1, attemptMsMax)(value, place, reader);
  }),
  heartbeatMs: optional(span(1, attemptMsMax)),
  startWithinMs: optional(span(1, fixed.waitMsMax)),
  isInline: optional(only(true, false)),
  isRepeatable: optional(only(true, false)),
};

const child: Fields = {
  workflow: required(checkName),
  definition: required(checkHash),
  input: required(checkExpression),
};

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
  const inside: Reader = (source) => (source === "$item" || source === "$index" ? undefined : reader(source));
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
  sleep: { forMs: required(span(1, fixed.waitMsMax)) },
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
  compensates: optional(checkName),
};

/** Holds one node against the fields of its kind, but for what concerns other nodes. */
export function checkNode(node: unknown, place: Place, reader: Reader): void {
  const kind = isJsonObject(node) ? node["kind"] : undefined;
  if (typeof kind !== "string" || !Object.hasOwn(kinds, kind)) {
    const isReserved = reservedKinds.some((one) => one === kind);
    const known = Object.keys(kinds).join(", ");
    place
      .at("kind")
      .fault(
        isReserved
          ? `"${kind}" has a name in format 1 and no behaviour yet: use one of ${known}`
          : `must be one of ${known}`,
      );
  } else if (checkFields(node, { ...common, ...kinds[kind] }, place, reader)) {
    if (kind === "step") checkStep(node, place);
    if (node["onTimeout"] !== undefined && node["timeoutMs"] === undefined) {
      place.at("onTimeout").fault("without a timeoutMs it never happens: set one, or leave onTimeout out");
    }
  }
}

function checkStep(step: { readonly [name: string]: unknown }, place: Place): void {
  if (step["isRepeatable"] === true && step["isInline"] !== true) {
    place.at("isRepeatable").fault("only inline steps share commits: set isInline too, or leave isRepeatable out");
  }
  if (Number(step["heartbeatMs"]) > Number(step["timeoutMs"])) {
    place.at("heartbeatMs").fault("is longer than timeoutMs, so it never counts: shorten it or leave it out");
  }
}
