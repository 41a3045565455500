import { createMemoryQueue } from "../../lib/testing/memory-queue.ts";
import { createVirtualClock } from "../../lib/testing/virtual-clock.ts";
import { queueContract } from "./queue.contract.ts";

queueContract("memory", async () => {
  const clock = createVirtualClock();
  const queue = createMemoryQueue({ clock, visibilityMs: 2000, maxReceiveCount: 2 });
  return {
    queue,
    receive: async (name) =>
      queue.receive(name).map((delivery) => ({
        ...delivery,
        taskKey: delivery.taskKey,
        reason: delivery.reason,
        ack: async () => queue.ack(delivery),
        release: async () => queue.release(delivery),
      })),
    wait: clock.advance,
    close: async () => undefined,
  };
});
