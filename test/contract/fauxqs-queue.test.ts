import { contractQueues, queueContract } from "./queue.contract.ts";
import { openSqs } from "./servers.ts";
import { wireQueue } from "./wire-queue.ts";

queueContract("SQS (fauxqs)", async () => {
  const { client, queueBase, close } = await openSqs(contractQueues, { visibilitySeconds: 2, maxReceiveCount: 2 });
  return { ...wireQueue(client, queueBase), isCountedLate: true, close };
});
