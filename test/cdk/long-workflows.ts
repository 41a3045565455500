import * as v from "valibot";
import { call, step, workflow } from "../../lib/index.ts";

const input = v.object({});
const undo = step("undo", { input, group: "undoing", timeout: "2m" }, () => {});
const long = step("long", { input, group: "films", timeout: "10m" }, () => {});
const child = workflow("film", { input }, (flow, film) => void flow.run(long, film));

/** A child's group and that of a compensation count like any other. */
export const workflows = [
  workflow("parent", { input }, (flow, given) => {
    const begun = flow.run(undo, given, { name: "begin", compensate: () => call(undo, given) });
    flow.child(child, given, { after: [begun] });
  }),
];
