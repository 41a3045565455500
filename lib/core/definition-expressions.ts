import type { Place } from "./definition-fault.ts";
import { isJsonObject } from "./json.ts";
import { fixed } from "./limits.ts";
import { operators } from "./operators.ts";

/** Says why an expression may not read this source, or nothing if it may. */
export type Reader = (source: string) => string | undefined;

/** Holds an expression against the forms and operators of `expression.ts`, and its references against `reader`. */
export function checkExpression(expr: unknown, place: Place, reader: Reader, depth = 0): void {
  if (depth > fixed.expressionDepthMax) {
    place.fault(`nested deeper than ${fixed.expressionDepthMax} levels: compute it in a step`);
  } else if (Array.isArray(expr)) {
    expr.forEach((item, index) => {
      checkExpression(item, place.at(index), reader, depth + 1);
    });
  } else if (isJsonObject(expr)) {
    if (Object.hasOwn(expr, "$")) checkHole(expr, place, reader, depth);
    else
      for (const [name, part] of Object.entries(expr)) {
        if (part !== undefined) checkExpression(part, place.at(name), reader, depth + 1);
      }
  } else if (!isScalar(expr)) {
    place.fault(`a ${typeof expr} is not JSON: use null, booleans, finite numbers, strings, lists and objects`);
  }
}

const isScalar = (value: unknown) =>
  value === null || typeof value === "boolean" || typeof value === "string" || Number.isFinite(value);

function checkHole(expr: { readonly [name: string]: unknown }, place: Place, reader: Reader, depth: number): void {
  const { $: hole } = expr;
  if (!Array.isArray(hole) || typeof hole[0] !== "string" || Object.keys(expr).length > 1) {
    place.fault(
      'an object with a key "$" is `{ "$": [form, ...operands] }`: wrap a constant in `{ "$": ["quote", ...] }`',
    );
    return;
  }
  const [form, ...operands] = hole as [string, ...unknown[]];
  if (form === "ref") checkReference(operands, place, reader);
  else if (form === "quote") checkCount(form, operands, 1, 1, place);
  else if (form === "case") checkCase(operands, place, reader, depth);
  else if (form === "first") checkFirst(operands, place, reader, depth);
  else if (Object.hasOwn(operators, form)) {
    const operator = operators[form];
    if (operator) checkCount(form, operands, operator.least, operator.most, place);
    operands.forEach((operand, index) => {
      checkExpression(operand, place.at(index), reader, depth + 1);
    });
  } else
    place.fault(`unknown operator "${form}": use one of ${["ref", "quote", ...Object.keys(operators)].join(", ")}`);
}

function checkReference([source, ...path]: readonly unknown[], place: Place, reader: Reader): void {
  if (typeof source !== "string") {
    place.fault('a reference starts with its source: "$input", "$item", "$index" or the name of an earlier node');
    return;
  }
  const refusal = reader(source);
  if (refusal !== undefined) place.fault(refusal);
  const isPath = path.every((key) => typeof key === "string" || (Number.isInteger(key) && (key as number) >= 0));
  if (!isPath) place.fault(`the path behind "${source}" holds names and indexes from 0 only: use the operator "at"`);
}

function checkCase(operands: readonly unknown[], place: Place, reader: Reader, depth: number): void {
  if (!checkCount("case", operands, 2, 3, place)) return;
  const [subject, arms, otherwise] = operands;
  checkExpression(subject, place.at(0), reader, depth + 1);
  if (otherwise !== undefined) checkExpression(otherwise, place.at(2), reader, depth + 1);
  if (!Array.isArray(arms) || arms.length === 0) {
    place.at(1).fault("the branches of a case are a list of `[literal, expression]`");
    return;
  }
  const literals = new Set<unknown>();
  for (const [index, arm] of (arms as readonly unknown[]).entries()) {
    const spot = place.at(1).at(index);
    if (!Array.isArray(arm) || arm.length !== 2 || !isScalar(arm[0])) {
      spot.fault("a branch is `[literal, expression]`, its literal a string, a finite number, a boolean or null");
      continue;
    }
    if (literals.has(arm[0])) spot.fault(`${JSON.stringify(arm[0])} has a branch already: remove one`);
    literals.add(arm[0]);
    checkExpression(arm[1], spot.at(1), reader, depth + 1);
  }
}

function checkFirst(rivals: readonly unknown[], place: Place, reader: Reader, depth: number): void {
  checkCount("first", rivals, 1, Number.POSITIVE_INFINITY, place);
  const labels = new Set<unknown>();
  for (const [index, rival] of rivals.entries()) {
    const spot = place.at(index);
    if (!Array.isArray(rival) || rival.length !== 2 || typeof rival[0] !== "string") {
      spot.fault("a rival is `[label, expression]`, its label a string");
      continue;
    }
    if (labels.has(rival[0])) spot.fault(`${JSON.stringify(rival[0])} is the label of another already: rename one`);
    labels.add(rival[0]);
    checkExpression(rival[1], spot.at(1), reader, depth + 1);
  }
}

function checkCount(form: string, operands: readonly unknown[], least: number, most: number, place: Place): boolean {
  const isRight = operands.length >= least && operands.length <= most;
  const wanted = least === most ? `${least}` : Number.isFinite(most) ? `${least} or ${most}` : `at least ${least}`;
  if (!isRight)
    place.fault(`"${form}" takes ${wanted} operand${wanted === "1" ? "" : "s"}, and got ${operands.length}`);
  return isRight;
}
