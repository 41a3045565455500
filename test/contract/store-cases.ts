import type { Check, Edit, Fields } from "../../lib/ports.ts";

export const absent = { kind: "absent", path: ["pk"] } as const;

/** A record with a value of every kind. */
export const record = {
  n: 5,
  s: "text",
  b: new Uint8Array([1, 2]),
  l: ["a", "b", "c"],
  m: { x: 1, y: { z: 2 } },
  t: true,
};

/** Conditions on it, and whether they hold. */
export const checks: readonly (readonly [what: string, check: Check, isTrue: boolean])[] = [
  ["an attribute exists", { kind: "exists", path: ["n"] }, true],
  ["a missing one does not", { kind: "exists", path: ["nothing"] }, false],
  ["a missing one is absent", { kind: "absent", path: ["nothing"] }, true],
  ["a nested one exists", { kind: "exists", path: ["m", "y", "z"] }, true],
  ["below a missing parent all is absent", { kind: "absent", path: ["nothing", "at", "all"] }, true],
  ["an element exists", { kind: "exists", path: ["l", 2] }, true],
  ["an element past the end is absent", { kind: "absent", path: ["l", 3] }, true],
  ["a name in a list is absent", { kind: "absent", path: ["l", "x"] }, true],
  ["equal numbers", { kind: "equals", path: ["n"], value: 5 }, true],
  ["a number is not a text", { kind: "equals", path: ["n"], value: "5" }, false],
  ["equal bytes", { kind: "equals", path: ["b"], value: new Uint8Array([1, 2]) }, true],
  ["equal booleans", { kind: "equals", path: ["t"], value: true }, true],
  ["equal elements", { kind: "equals", path: ["l", 0], value: "a" }, true],
  ["a missing one equals nothing", { kind: "equals", path: ["nothing"], value: 0 }, false],
  ["at most, itself", { kind: "atMost", path: ["n"], value: 5 }, true],
  ["at most, less", { kind: "atMost", path: ["n"], value: 4 }, false],
  ["under, more", { kind: "under", path: ["n"], value: 6 }, true],
  ["under, itself", { kind: "under", path: ["n"], value: 5 }, false],
  ["texts have an order", { kind: "under", path: ["s"], value: "texts" }, true],
  ["two types have none", { kind: "under", path: ["s"], value: 9 }, false],
  ["a missing one is under nothing", { kind: "under", path: ["nothing"], value: 9 }, false],
  ["a list's size", { kind: "sized", path: ["l"], is: "equals", count: 3 }, true],
  ["a list's size, under", { kind: "sized", path: ["l"], is: "under", count: 3 }, false],
  ["a map's size", { kind: "sized", path: ["m"], is: "equals", count: 2 }, true],
  ["bytes have a size", { kind: "sized", path: ["b"], is: "under", count: 3 }, true],
  ["a number has none", { kind: "sized", path: ["n"], is: "under", count: 100 }, false],
  ["a missing one has none", { kind: "sized", path: ["nothing"], is: "equals", count: 0 }, false],
  ["any of two", { kind: "any", of: [[{ kind: "absent", path: ["n"] }], [{ kind: "exists", path: ["s"] }]] }, true],
  [
    "none of two",
    { kind: "any", of: [[{ kind: "absent", path: ["n"] }], [absent, { kind: "exists", path: ["s"] }]] },
    false,
  ],
];

/** Changes of it, and what it is then. */
export const edits: readonly (readonly [what: string, edits: readonly Edit[], now: Fields | "refused"])[] = [
  ["nothing", [], record],
  ["sets", [{ kind: "set", path: ["n"], value: 6 }], { ...record, n: 6 }],
  ["sets below", [{ kind: "set", path: ["m", "y", "z"], value: 3 }], { ...record, m: { x: 1, y: { z: 3 } } }],
  ["adds a name to a map", [{ kind: "set", path: ["m", "w"], value: 3 }], { ...record, m: { ...record.m, w: 3 } }],
  ["does not set below what is missing", [{ kind: "set", path: ["nothing", "x"], value: 1 }], "refused"],
  ["does not set a name in a list", [{ kind: "set", path: ["l", "x"], value: 1 }], "refused"],
  ["sets an element", [{ kind: "set", path: ["l", 1], value: "B" }], { ...record, l: ["a", "B", "c"] }],
  [
    "appends what is set past the end, in order",
    [
      { kind: "set", path: ["l", 9], value: "e" },
      { kind: "set", path: ["l", 7], value: "d" },
    ],
    { ...record, l: ["a", "b", "c", "d", "e"] },
  ],
  ["keeps what is there", [{ kind: "setIfAbsent", path: ["n"], value: 9 }], record],
  ["sets what is not", [{ kind: "setIfAbsent", path: ["new"], value: 9 }], { ...record, new: 9 }],
  ["adds", [{ kind: "add", path: ["n"], by: -2 }], { ...record, n: 3 }],
  ["does not add to what is missing", [{ kind: "add", path: ["nothing"], by: 1 }], "refused"],
  ["does not add to a text", [{ kind: "add", path: ["s"], by: 1 }], "refused"],
  [
    "copies what was there before the statement",
    [
      { kind: "copy", path: ["m", "old"], from: ["n"] },
      { kind: "add", path: ["n"], by: 1 },
    ],
    { ...record, n: 6, m: { ...record.m, old: 5 } },
  ],
  ["does not copy what is missing", [{ kind: "copy", path: ["new"], from: ["nothing"] }], "refused"],
  ["appends", [{ kind: "append", path: ["l"], values: ["d", 1] }], { ...record, l: ["a", "b", "c", "d", 1] }],
  ["does not append to what is missing", [{ kind: "append", path: ["nothing"], values: [1] }], "refused"],
  ["removes what is missing", [{ kind: "remove", path: ["nothing"] }], record],
  ["removes past the end", [{ kind: "remove", path: ["l", 7] }], record],
  [
    "removes elements by their old places",
    [
      { kind: "remove", path: ["l", 0] },
      { kind: "remove", path: ["l", 1] },
    ],
    { ...record, l: ["c"] },
  ],
  ["does not remove below what is missing", [{ kind: "remove", path: ["nothing", "x"] }], "refused"],
  [
    "does not take overlapping paths",
    [
      { kind: "set", path: ["m"], value: {} },
      { kind: "set", path: ["m", "x"], value: 1 },
    ],
    "refused",
  ],
  [
    "does not take a path twice",
    [
      { kind: "set", path: ["n"], value: 1 },
      { kind: "remove", path: ["n"] },
    ],
    "refused",
  ],
  [
    "does not take a name and an index of one parent",
    [
      { kind: "set", path: ["m", "x"], value: 1 },
      { kind: "set", path: ["m", 0], value: 1 },
    ],
    "refused",
  ],
  ["does not change a key", [{ kind: "set", path: ["sk"], value: "OTHER" }], "refused"],
  ["does not take what no double holds", [{ kind: "set", path: ["n"], value: Number.NaN }], "refused"],
  ["does not take what is too near to zero", [{ kind: "set", path: ["n"], value: 5e-324 }], "refused"],
  ["does not take a text as an index's number", [{ kind: "set", path: ["d"], value: "soon" }], "refused"],
];
