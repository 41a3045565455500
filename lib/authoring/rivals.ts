import type { Expr, NodeDef } from "../core/definition.ts";
import { holeOf } from "../core/expression.ts";
import type { Reference } from "./reference.ts";

/** The groups of nodes of which only the first yields, and who reads their members. */
export interface Rivals {
  /** Makes one group of these nodes. */
  race(names: readonly string[], fields: { readonly onFailure?: "continue" }): void;
  /** Notes that a reference ended up somewhere: its node may be found to be a rival later. */
  noteRead(reference: Reference, path: string): void;
  /** Calls `body` without noting what it lowers: who merely waits for a node need not care whether it was skipped. */
  withoutNotes<R>(body: () => R): R;
  /** A fault for each read of a node that may lose. */
  checkRivals(): void;
}

interface Kept {
  readonly nodes: readonly NodeDef[];
  fault(message: string, place?: string): void;
  replace(node: NodeDef, next: NodeDef): void;
}

/** The part of a build that knows who races whom. */
export function createRivals({ nodes, fault, replace }: Kept): Rivals {
  const reads: { readonly node: string; readonly reference: Reference; readonly path: string }[] = [];
  const groups = new Map<string, readonly string[]>();
  let isNoting = true;
  return {
    race(names, fields) {
      const group = names[0] ?? "";
      for (const name of names) {
        const node = nodes.find((each) => each.name === name);
        if (!node) continue;
        if (node.oneOf !== undefined) fault(`"${name}" takes part in two flow.first: join them in one`);
        else if (node.onFailure !== undefined)
          fault(
            `${name}: onFailure: "continue" is neither a win nor a failure: say it of all rivals, flow.first({ ... }, { onFailure: "continue" })`,
          );
        else replace(node, { ...node, ...fields, oneOf: group });
        groups.set(name, names);
      }
    },
    noteRead(reference, path) {
      const node = isNoting ? nodeOf(reference.expr) : undefined;
      if (node !== undefined) reads.push({ node, reference, path });
    },
    withoutNotes(body) {
      const before = isNoting;
      isNoting = false;
      try {
        return body();
      } finally {
        isNoting = before;
      }
    },
    checkRivals() {
      for (const { node, reference, path } of reads) {
        if (!groups.has(node)) continue;
        fault(
          `${path} reads ${reference.label}, and "${node}" has no output if another of its flow.first wins: ` +
            "read `winner` and `value` of what flow.first yields (choose tells them apart), or only wait for it with `after`",
          reference.place ?? "",
        );
      }
    },
  };
}

/** The node that a plain reference reads. */
function nodeOf(expr: Expr): string | undefined {
  const hole = holeOf(expr);
  const source = hole?.form === "ref" ? hole.operands[0] : undefined;
  return typeof source === "string" && !source.startsWith("$") ? source : undefined;
}
