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
import { checkName, namePattern } from "./definition-names.ts";
import type { Json } from "./json.ts";
import { defaultLimits, fixed } from "./limits.ts";

type Given = { readonly [name: string]: Json };

const checkHandler: Check = must((value) => {
  const [name = "", version = "", ...more] = typeof value === "string" ? value.split("@") : [];
  return namePattern.test(name) && namePattern.test(version) && more.length === 0;
}, "must be `name@version`, both of letters, digits, dots, underscores and hyphens");

const checkHash: Check = must(
  (value) => value === "self" || (typeof value === "string" && /^[0-9a-f]{32}$/.test(value)),
  'must be the hash of the child\'s definition, 32 hexadecimal characters, or "self"',
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

const work: Fields = {
  handler: required(checkHandler),
  group: required(checkName),
  input: required(checkExpression),
  retry: required(checkRetry),
  timeoutMs: required((value, place, reader) => {
    if (Number.isInteger(value) && (value as number) > attemptMsMax) {
      place.fault(
        `no function can hold an attempt longer than ${attemptMsMax} ms: split the step, or let something outside complete it`,
      );
    } else span(1, attemptMsMax)(value, place, reader);
  }),
  heartbeatMs: optional(span(1, attemptMsMax)),
  startWithinMs: optional(span(1, fixed.waitMsMax)),
};

/** What a worker carries out. */
export const step: Fields = {
  ...work,
  isInline: optional(only(true, false)),
  isRepeatable: optional(only(true, false)),
};

/** What another run carries out. */
export const child: Fields = {
  workflow: required(checkName),
  definition: required(checkHash),
  input: required(checkExpression),
};

/** A reader that knows one more source. */
export const withSource =
  (local: readonly string[], reader: Reader): Reader =>
  (source) =>
    local.includes(source) ? undefined : reader(source);

/** What a worker carries out again and again. Its condition is checked with the node's name at hand: {@link checkRepeat}. */
export const repeat: Fields = {
  ...work,
  input: required((value, place, reader) => checkExpression(value, place, withSource(["$last"], reader))),
  until: required(() => {}),
  limit: required(whole(1, fixed.repeatsMax)),
  everyMs: required(span(0, fixed.waitMsMax)),
  factor: required(must((value) => isWithin(value, 1, 100), "must be a number from 1 to 100")),
  longestMs: required(span(0, fixed.waitMsMax)),
};

/** What a worker begins and somebody outside completes. */
export const external: Fields = {
  ...work,
  completeWithinMs: required(span(1, fixed.waitMsMax)),
  beatMs: optional(span(1, fixed.waitMsMax)),
};

/** How the options of a step stand to each other. */
export function checkStep(step: Given, place: Place): void {
  if (step["isRepeatable"] === true && step["isInline"] !== true) {
    place.at("isRepeatable").fault("only inline steps share commits: set isInline too, or leave isRepeatable out");
  }
  checkWork(step, place);
}

function checkWork(work: Given, place: Place): void {
  if (Number(work["heartbeatMs"]) > Number(work["timeoutMs"])) {
    place.at("heartbeatMs").fault("is longer than timeoutMs, so it never counts: shorten it or leave it out");
  }
}

/** How the options of a repeat stand to each other, and that its condition reads what it repeats. */
export function checkRepeat(node: Given, place: Place): void {
  checkWork(node, place);
  if (Number(node["longestMs"]) < Number(node["everyMs"])) {
    place.at("longestMs").fault("is shorter than everyMs: raise it or lower the first");
  }
  const { name, until } = node;
  if (until === undefined) return;
  let isRead = false;
  checkExpression(until, place.at("until"), (source) => {
    isRead ||= source === name;
    return source === name
      ? undefined
      : `the condition of a repeat reads its own output and nothing else: pass "${source}" through the step's input and output`;
  });
  if (!isRead) place.at("until").fault(`never changes: read the node's own output, "${String(name)}"`);
}

/** How the options of an external stand to each other. */
export function checkExternal(node: Given, place: Place): void {
  checkWork(node, place);
  if (Number(node["beatMs"]) > Number(node["completeWithinMs"])) {
    place.at("beatMs").fault("is longer than completeWithinMs, so it never counts: shorten it or leave it out");
  }
}
