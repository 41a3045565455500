import type { Ref } from "../../../lib/index.ts";
import { some } from "./expect.ts";

// References are no values. Each of these compiles only if the lie about scalar references has stopped working.
const input =
  some<
    Ref<{
      id: string;
      cents: number;
      vip: boolean;
      kind: "a" | "b";
      lines: readonly { sku: string }[];
      at: { x: string };
    }>
  >();

// @ts-expect-error
if (input.vip) some();
// @ts-expect-error
export const chosen = input.vip ? 1 : 2;
// @ts-expect-error
export const both = input.vip && some();
// @ts-expect-error
export const joined = `${input.id}`;
// @ts-expect-error
export const added = input.id + "x";
// @ts-expect-error
export const sum = input.cents + 1;
// @ts-expect-error
export const product = input.cents * 2;
// @ts-expect-error
export const more = input.cents > 5;
// @ts-expect-error
export const same = input.kind === "a";
// @ts-expect-error
export const other = input.cents !== 5;
switch (input.kind) {
  // @ts-expect-error
  case "a":
    break;
}
// @ts-expect-error
export const isDate = input.id instanceof Date;
// @ts-expect-error
for (const line of input.lines) some(line);
// @ts-expect-error
export const list = [...input.lines];
// @ts-expect-error
export const [head] = input.lines;
// @ts-expect-error
export const mapped = input.lines.map((line) => line);
// @ts-expect-error
input.id = "x";
// @ts-expect-error
export const upper: string = input.id.toUpperCase();
// @ts-expect-error
export const value: string = input.id;
