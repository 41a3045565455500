import { Fault } from "../../lib/core/faults.ts";
import type { World } from "../../lib/testing/world.ts";

/** Somebody outside who repeats a call until it is answered, as a client would: so often at the most, then it throws. */
export async function insist(world: World, tries: number, call: () => Promise<unknown>): Promise<void> {
  for (let again = 0; again < tries; again++) {
    // a call into a process that died is never answered
    const answer = await Promise.race([
      call().then(
        () => "done",
        (error: unknown) => (Fault.is(error) ? error.code : Promise.reject(error)),
      ),
      world.clock.sleep(5000).then(() => "silence"),
    ]);
    if (["done", "gate-decided", "run-ended"].includes(answer)) return;
    await world.clock.sleep(1000);
  }
  throw new Error("nobody ever answered");
}
