import * as v from "valibot";
import { step, workflow } from "../../lib/index.ts";

const parcel = v.object({ id: v.string(), stops: v.array(v.string()) });

const collect = step("collect", { input: parcel, output: parcel }, ({ id, stops }) => ({
  id,
  stops: [...stops, "collected"],
}));

const deliver = step("deliver", { input: parcel, output: parcel }, ({ id, stops }) => ({
  id,
  stops: [...stops, "delivered"],
}));

/** Two steps with a person between them. */
export const parcels = workflow("parcels", { input: parcel }, (flow, input) => {
  const collected = flow.run(collect, input);
  const checked = flow.gate("checked", { after: [collected] });
  return flow.run(deliver, collected, { after: [checked] });
});

export const workflows = [parcels];
