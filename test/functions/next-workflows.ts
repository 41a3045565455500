import * as v from "valibot";
import { step, workflow } from "../../lib/index.ts";

const parcel = v.object({ id: v.string(), stops: v.array(v.string()) });

const stop = (name: string, word: string) =>
  step(name, { input: parcel, output: parcel }, ({ id, stops }) => ({ id, stops: [...stops, word] }));
const [collect, customs, deliver] = [
  stop("collect", "collected"),
  stop("customs", "cleared"),
  stop("deliver", "delivered"),
];

/** The next version of `parcels`: another step, and no person any more. The steps of the old one are still there. */
export const parcels = workflow("parcels", { input: parcel }, (flow, input) => {
  const collected = flow.run(collect, input);
  return flow.run(deliver, flow.run(customs, collected));
});

export const workflows = [parcels];
