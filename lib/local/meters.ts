import type { DynamodbRequest } from "./dynamodb-server.ts";
import type { SqsRequest } from "./sqs-server.ts";

/** Counts since the stack started, as seen on the wire, so also of requests that a client repeated. */
export interface StackMeters {
  readonly sqs: {
    readonly requests: number;
    readonly sendRequests: number;
    readonly receiveRequests: number;
    /** Receive requests that brought nothing: what idling costs. */
    readonly emptyReceives: number;
    readonly deleteRequests: number;
    readonly sent: number;
    readonly received: number;
    readonly deleted: number;
  };
  readonly dynamodb: {
    readonly reads: number;
    readonly writes: number;
    /** Writes whose condition was false; they cost their write unit too. */
    readonly refused: number;
    /** Capacity units, size-true; only of requests that asked for them (`isMetered` of the store). */
    readonly readUnits: number;
    readonly writeUnits: number;
    readonly byOperation: Readonly<Record<string, number>>;
  };
  /** Invocations by function. */
  readonly invocations: Readonly<Record<string, number>>;
}

export interface MeterBook {
  sqs(request: SqsRequest): void;
  dynamodb(request: DynamodbRequest): void;
  invoked(functionName: string): void;
  /** A copy: what was read stays as it was. */
  read(): StackMeters;
}

const reads = new Set(["GetItem", "BatchGetItem", "Query", "Scan"]);
const writes = new Set(["PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"]);

/** Where the servers and pollers of a stack write down what they saw. */
export function createMeterBook(): MeterBook {
  const sqs = {
    requests: 0,
    sendRequests: 0,
    receiveRequests: 0,
    emptyReceives: 0,
    deleteRequests: 0,
    sent: 0,
    received: 0,
    deleted: 0,
  };
  const dynamodb = { reads: 0, writes: 0, refused: 0, readUnits: 0, writeUnits: 0 };
  const byOperation: Record<string, number> = {};
  const invocations: Record<string, number> = {};
  return {
    sqs: ({ operation, messages }) => {
      sqs.requests++;
      if (operation.startsWith("SendMessage")) {
        sqs.sendRequests++;
        sqs.sent += messages;
      } else if (operation === "ReceiveMessage") {
        sqs.receiveRequests++;
        sqs.received += messages;
        if (messages === 0) sqs.emptyReceives++;
      } else if (operation.startsWith("DeleteMessage")) {
        sqs.deleteRequests++;
        sqs.deleted += messages;
      }
    },
    dynamodb: ({ operation, isRefused, capacityUnits }) => {
      byOperation[operation] = (byOperation[operation] ?? 0) + 1;
      if (isRefused) dynamodb.refused++;
      if (reads.has(operation)) {
        dynamodb.reads++;
        dynamodb.readUnits += capacityUnits;
      } else if (writes.has(operation)) {
        dynamodb.writes++;
        dynamodb.writeUnits += capacityUnits;
      }
    },
    invoked: (functionName) => {
      invocations[functionName] = (invocations[functionName] ?? 0) + 1;
    },
    read: () => ({
      sqs: { ...sqs },
      dynamodb: { ...dynamodb, byOperation: { ...byOperation } },
      invocations: { ...invocations },
    }),
  };
}
