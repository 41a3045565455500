import { Fault } from "../core/faults.ts";
import type { Engine } from "./engine.ts";

/** Where nothing is and nothing ever will be: no tenant begins so. */
const nowhere = { pk: "#HEALTH", sk: "STATE" };

/** Whether the table answers a read, for half a read unit: nothing, or the fault. Throws what is no fault of the platform. */
export async function faultOfTable(engine: Engine): Promise<Fault | undefined> {
  try {
    await engine.store.read([nowhere], { isConsistent: false });
    return undefined;
  } catch (error) {
    if (Fault.is(error)) return error;
    throw error;
  }
}
