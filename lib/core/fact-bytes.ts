import type { Expr } from "./definition.ts";
import { holeOf, partsOf } from "./expression.ts";
import { fixed } from "./limits.ts";
import type { Fact, Program } from "./program.ts";

/** A number's distance and a value's kind. */
const headBytes = 1;
/** Length and text of the longest code of a fault that an expression can come to. */
const faultBytes = 16;
/** `perPage:token`, with its length. */
const pagesBytes = 23;

const neverFaults = new Set(["ref", "quote", "eq", "ne", "exists", "coalesce", "orElse", "at"]);
const yieldsBoolean = new Set(["eq", "ne", "gt", "gte", "lt", "lte", "and", "or", "not", "exists", "isIn"]);

/**
 * The most that facts of a run of this program take on its row at one time. A fact stands there from the end of its source until
 * its last reader starts, so two of them never meet if the source of one waits for all readers of the other. An upper bound: facts
 * are laid into sequences of such, and each sequence counts with its widest.
 */
export function factBytesMax(program: Program): number {
  const all = program.facts.map((fact) => ({ fact, bytes: bytesOf(fact) }));
  const sum = all.reduce((total, { bytes }) => total + bytes, 0);
  if (sum <= fixed.factBytesMax) return sum;
  const before = ancestors(program);
  const sequences: { last: Fact; widest: number }[] = [];
  for (const { fact, bytes } of all.sort((a, b) => a.fact.source - b.fact.source)) {
    const fits = sequences.find(({ last }) => last.readers.every((reader) => before[fact.source]?.has(reader)));
    if (fits) {
      fits.last = fact;
      fits.widest = Math.max(fits.widest, bytes);
    } else sequences.push({ last: fact, widest: bytes });
  }
  return sequences.reduce((total, { widest }) => total + widest, 0);
}

/** By position: what has ended when this node has ended, itself included. */
function ancestors(program: Program): readonly ReadonlySet<number>[] {
  const sets: Set<number>[] = [];
  for (const { position, deps } of program.nodes) {
    const own = new Set([position]);
    for (const dep of deps) for (const each of sets[dep] ?? []) own.add(each);
    sets.push(own);
  }
  return sets;
}

function bytesOf(fact: Fact): number {
  // whether a repeat goes on is decided where its iteration is taken in: nothing of it stays on the row
  if (fact.kind === "own") return 0;
  if (fact.kind === "pages") return headBytes + pagesBytes;
  const fault = canFault(fact.expr) ? faultBytes : 0;
  if (isBoolean(fact.expr)) return headBytes + fault;
  const { form = "" } = holeOf(fact.expr) ?? {};
  return headBytes + (form === "size" ? faultBytes : fixed.factStringBytesMax + 1);
}

/** Whether it comes to true, false or nothing. */
function isBoolean(expr: Expr): boolean {
  const hole = holeOf(expr);
  if (!hole) return typeof expr === "boolean";
  const [, second, ...others] = hole.operands;
  if (hole.form === "if") return [second as Expr, ...others].every(isBoolean);
  if (hole.form !== "case") return yieldsBoolean.has(hole.form);
  return [...(second as readonly (readonly [Expr, Expr])[]).map(([, then]) => then), ...others].every(isBoolean);
}

function canFault(expr: Expr): boolean {
  const hole = holeOf(expr);
  return (hole !== undefined && !neverFaults.has(hole.form)) || partsOf(expr).some(canFault);
}
