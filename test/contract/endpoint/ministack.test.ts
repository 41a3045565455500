import { payloadsContract } from "../payloads.contract.ts";
import { queueContract } from "../queue.contract.ts";
import { storeContract } from "../store.contract.ts";
import { useMiniStack } from "./ministack.ts";
import { openBucket, openQueues, openTable } from "./wire.ts";

const options = useMiniStack();

/** None of them is in a statement of the engine: it asks for the size of lists, adds to numbers, and removes from maps that are there. */
const lies = ["a number has none", "does not add to a text", "does not remove below what is missing"];

storeContract("DynamoDB (MiniStack)", () => openTable(options()), lies);
queueContract("SQS (MiniStack)", () => openQueues(options()));
payloadsContract("S3 (MiniStack)", () => openBucket(options()));
