import { processClock } from "../../lib/aws/process.ts";
import { createVirtualClock } from "../../lib/testing/virtual-clock.ts";
import { clockContract } from "./clock.contract.ts";

clockContract("the machine's", () => ({ clock: processClock, drive: (work) => work }));
clockContract("virtual time", () => {
  const clock = createVirtualClock();
  return { clock, drive: clock.drive };
});
