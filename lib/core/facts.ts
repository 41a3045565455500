import type { NodeDef } from "./definition.ts";
import { type Evaluated, evaluate, evaluateRest } from "./expression.ts";
import { Fault, type FaultData } from "./faults.ts";
import type { Facts } from "./inputs.ts";
import { isJsonObject, type Json } from "./json.ts";
import { fixed } from "./limits.ts";
import type { Condition, Fact, Program, ProgramNode } from "./program.ts";
import type { FactValue } from "./run.ts";

/** What dependents see of a node that went on: its value, wrapped where failures are data. */
export function outputOf(def: NodeDef, value: Json | undefined): Json | undefined {
  return def.onFailure === "continue" ? { ok: true, ...(value !== undefined && { value }) } : value;
}

/** What dependents see of a node that failed and may. */
export function failureOf(fault: FaultData): Json {
  return { ok: false, error: { code: fault.code, message: fault.message } };
}

/** The facts that control flow needs of one source, from its output as dependents see it. Pages are the recorder's to add. */
export function factsOf(program: Program, source: number, output: Json | undefined): Facts {
  const facts = new Map<number, FactValue>();
  program.facts.forEach((fact, number) => {
    if (fact.source === source && fact.kind === "value")
      facts.set(number, factValue(evaluate(fact.expr, () => output)));
  });
  return facts;
}

/** What a repeat's condition asks of the output that one iteration came to, before it is wrapped for others. */
export function ownFacts(program: Program, source: number, value: Json | undefined): Facts {
  const facts = new Map<number, FactValue>();
  program.facts.forEach((fact, number) => {
    if (fact.source === source && fact.kind === "own") facts.set(number, factValue(evaluate(fact.expr, () => value)));
  });
  return facts;
}

/** Facts of a map's output that do not need its items: how many there are. */
export function mapFacts(program: Program, node: ProgramNode, total: number): Facts {
  const isRead = program.facts.some((fact) => fact.source === node.position);
  return isRead
    ? factsOf(
        program,
        node.position,
        outputOf(
          node.def,
          Array.from({ length: total }, () => null),
        ),
      )
    : new Map();
}

/** Lists that maps of this program take from a source: whoever holds it writes them down in pages. */
export function pagedLists(
  program: Program,
  source: number,
  output: Json | undefined,
): readonly { readonly fact: number; readonly node: number; readonly items: readonly Json[] }[] {
  return program.facts.flatMap((fact: Fact, number) => {
    if (fact.source !== source || fact.kind !== "pages") return [];
    const list = evaluate(fact.expr, () => output);
    const node = fact.readers[0];
    return list.ok && Array.isArray(list.value) && node !== undefined
      ? [{ fact: number, node, items: list.value as readonly Json[] }]
      : [];
  });
}

/** A condition's answer over the facts that a run holds. */
export function decide(condition: Condition, facts: Facts): Evaluated {
  return evaluateRest(condition.rest, (index) => {
    const number = condition.facts[index] ?? -1;
    const fact = facts.get(number);
    if (!fact) throw new Fault("bad-row", `fact ${number} is not on the row`);
    return factValueOf(fact);
  });
}

/** The value behind a fact; throws its fault for whoever reads it. */
export function factValueOf(fact: FactValue): Json | undefined {
  if (fact.kind === "fault") throw new Fault(fact.code, `a value that the condition reads: ${fact.code}`);
  return fact.kind === "value" ? fact.value : undefined;
}

/** Where a list's items were written: how many to a page, and the name of the pages. Fits the row as one short string. */
export function pagesFact(perPage: number, token: string): FactValue {
  return { kind: "value", value: `${perPage}:${token}` };
}

export function pagesOf(fact: FactValue | undefined): { readonly perPage: number; readonly token: string } {
  if (fact?.kind !== "value" || typeof fact.value !== "string") return { perPage: 0, token: "" };
  const [perPage = "0", token = ""] = fact.value.split(":");
  return { perPage: Number(perPage), token };
}

function factValue(evaluated: Evaluated): FactValue {
  if (!evaluated.ok) return { kind: "fault", code: evaluated.fault.code };
  const { value } = evaluated;
  if (value === undefined) return { kind: "missing" };
  if (Array.isArray(value) || isJsonObject(value)) return { kind: "fault", code: "fact-too-big" };
  if (typeof value === "string" && new TextEncoder().encode(value).length > fixed.factStringBytesMax)
    return { kind: "fault", code: "fact-too-big" };
  return { kind: "value", value: value as string | number | boolean | null };
}
