import { afterAll, beforeAll } from "vitest";
import { openSqs } from "./servers.ts";
import { sqsLies } from "./sqs-lies.ts";

let sqs: Awaited<ReturnType<typeof openSqs>>;
beforeAll(async () => {
  sqs = await openSqs([], { visibilitySeconds: 30, maxReceiveCount: 2 });
});
afterAll(() => sqs.close());

sqsLies("fauxqs", () => sqs.client);
