import { expect, test } from "vitest";
import { conditionOf, createPlaceholders, updateOf } from "../../lib/aws/expressions.ts";
import { fieldsOfReturned } from "../../lib/aws/returned-item.ts";
import type { Check, Edit } from "../../lib/ports.ts";

test("no expression holds a bare name: each could be a reserved word (D13)", () => {
  const to = createPlaceholders();
  const checks: Check[] = [
    { kind: "absent", path: ["status"] },
    { kind: "exists", path: ["data", "name", 3, "value"] },
    { kind: "equals", path: ["size"], value: 1 },
    { kind: "sized", path: ["list"], is: "under", count: 3 },
    {
      kind: "any",
      of: [[{ kind: "atMost", path: ["ttl"], value: 2 }], [{ kind: "under", path: ["owner"], value: 3 }]],
    },
  ];
  const edits: Edit[] = [
    { kind: "set", path: ["status"], value: "x" },
    { kind: "setIfAbsent", path: ["due"], value: 1 },
    { kind: "add", path: ["count"], by: 1 },
    { kind: "copy", path: ["ids", "id.with.dots"], from: ["next"] },
    { kind: "append", path: ["entries"], values: [1] },
    { kind: "remove", path: ["items", 0] },
    { kind: "remove", path: ["items", 1] },
  ];
  const text = `${conditionOf(checks, to)} ${updateOf(edits, to)}`;
  const words = text.match(/(?<![#:\w])[A-Za-z_]\w*/g) ?? [];
  const known = [
    "AND",
    "OR",
    "SET",
    "REMOVE",
    "size",
    "attribute_exists",
    "attribute_not_exists",
    "if_not_exists",
    "list_append",
  ];
  expect(words.filter((word) => !known.includes(word))).toEqual([]);
  expect(updateOf(edits.slice(5), createPlaceholders())).toBe("REMOVE #n0[1], #n0[0]");
  const { ExpressionAttributeNames: names = {} } = to.maps();
  expect(Object.values(names)).toContain("id.with.dots");
  expect(new Set(Object.values(names)).size).toBe(Object.keys(names).length);
});

test("no condition and no change are no expressions, and their maps are left out", () => {
  const to = createPlaceholders();
  expect([conditionOf([], to), updateOf([], to), to.maps()]).toEqual([undefined, undefined, {}]);
});

test("the same request is built byte for byte the same (D16)", () => {
  const build = () => {
    const to = createPlaceholders();
    const check: Check = { kind: "equals", path: ["v"], value: 1 };
    return JSON.stringify([
      conditionOf([check], to),
      updateOf([{ kind: "set", path: ["c"], value: "x" }], to),
      to.maps(),
    ]);
  };
  expect(build()).toBe(build());
});

test("a returned record may be plain already (D3)", () => {
  expect(fieldsOfReturned({ pk: "t", sk: "S", v: 7, b: Buffer.from([1]) })).toEqual({ v: 7, b: new Uint8Array([1]) });
});
