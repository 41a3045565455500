import { payloadsContract } from "../payloads.contract.ts";
import { queueContract } from "../queue.contract.ts";
import { storeContract } from "../store.contract.ts";
import { openBucket, openQueues, openTable } from "./wire.ts";

/**
 * The same suites against the account and region that the environment names (`AWS_PROFILE`, `AWS_REGION`, ...): a table, six queues and a
 * bucket that are called `tickwright-contract-...`, and removed at the end. Asked for by name only, as it costs a little money and two
 * minutes. `AWS_ENDPOINT_URL` sends it somewhere else.
 */
if (process.env["TICKWRIGHT_AWS_CONTRACT"] !== "1")
  throw new Error(
    "This makes and removes things in your AWS account. To say that you want it: TICKWRIGHT_AWS_CONTRACT=1",
  );

const endpoint = process.env["AWS_ENDPOINT_URL"];
const options = endpoint === undefined ? {} : { endpoint };

storeContract("DynamoDB (AWS)", () => openTable(options));
queueContract("SQS (AWS)", () => openQueues(options, { countsWithinMs: 90_000, patienceS: 2 }));
payloadsContract("S3 (AWS)", () => openBucket(options));
