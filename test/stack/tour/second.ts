import { workflow } from "../../../lib/index.ts";
import { label, parts, unchanging } from "./first.ts";

const { count, pack, wrap } = parts;

/** Wrapped twice and nobody asked: another graph of the same steps. */
export const changed = workflow("changed", { input: count }, (flow, input) => {
  const packed = flow.run(pack, { n: input.n });
  const once = flow.run(wrap, packed, { name: "wrap-once" });
  return flow.run(wrap, once, { name: "wrap-twice" });
});

/** `label` is called `sticker` now, and nobody kept the old one. */
export const renamed = workflow("renamed", { input: count }, (flow, input) => {
  const packed = flow.run(pack, { n: input.n });
  const ok = flow.gate("ok", { after: [packed] });
  return flow.run(label("sticker"), packed, { after: [ok] });
});

export const workflows = [...unchanging, changed, renamed];
