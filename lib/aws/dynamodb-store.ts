import { ConditionalCheckFailedException, type DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DeleteCommand, DynamoDBDocumentClient, PutCommand, QueryCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { Fault } from "../core/faults.ts";
import { itemBytes, itemBytesMax } from "../ports/item-size.ts";
import { assertWrite } from "../ports/storable.ts";
import type { Fields, Key, RunStore, Write, Written } from "../ports.ts";
import { createDynamodbReader } from "./dynamodb-reader.ts";
import { attemptsOf, classify, toFault } from "./errors.ts";
import { conditionOf, createPlaceholders, updateOf } from "./expressions.ts";
import { indexes, tableKeys } from "./names.ts";
import { type Patience, retrying } from "./retry.ts";
import { fieldsOfReturned, withKeys, withoutKeys } from "./returned-item.ts";

export interface DynamodbStoreOptions extends Patience {
  /** With one attempt a request, as `clients.ts` makes it: more make `isClear` false whenever they were used. */
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** Asks for `ConsumedCapacity` with every answer, for whoever meters the wire. */
  readonly isMetered?: boolean;
}

/**
 * The store on a DynamoDB table. A write is one conditional request; it is repeated here only when it was throttled or never left, so
 * its outcome stays clear. A failed condition brings the stored record along; where it did not (no such record, or an emulator),
 * it is read consistently.
 */
export function createDynamodbStore(options: DynamodbStoreOptions): RunStore {
  const { tableName } = options;
  const client = DynamoDBDocumentClient.from(options.client);
  const common = { TableName: tableName, ...(options.isMetered && { ReturnConsumedCapacity: "TOTAL" as const }) };
  const reader = createDynamodbReader(client, common, options);

  async function afterFailure(write: Write, error: unknown): Promise<Written> {
    const isClear = attemptsOf(error) <= 1;
    switch (classify(error)) {
      case "conflict": {
        const item = error instanceof ConditionalCheckFailedException ? error.Item : undefined;
        const now = item ? fieldsOfReturned(item) : await reader.one(write.key, true);
        return now ? { kind: "refused", now, isClear } : { kind: "absent", isClear };
      }
      case "transient":
        return { kind: "unclear", fault: toFault(error, `Writing ${write.key.sk}`).data };
      case "permanent":
        if (await isTooBig(write)) throw tooBig(write, error);
        throw toFault(error, `Writing ${write.key.sk}`);
      default:
        if (!isClear) return { kind: "unclear", fault: toFault(error, `Writing ${write.key.sk}`).data };
        throw toFault(error, `Writing ${write.key.sk}`);
    }
  }

  /** The service says by its text alone that an item is too large, so it is weighed here. */
  async function isTooBig(write: Write): Promise<boolean> {
    if (write.kind === "delete") return false;
    if (write.kind === "put") return itemBytes({ ...write.fields, ...write.key }) > itemBytesMax;
    const added = write.edits.map((edit) => ("values" in edit ? [...edit.values] : "value" in edit ? edit.value : 0));
    const stored = (await reader.one(write.key, true)) ?? {};
    return itemBytes({ ...stored, added, ...write.key }) > itemBytesMax;
  }

  return {
    async write(write, { returns, signal } = {}) {
      assertWrite(write);
      const command = commandOf(write, returns === "all", common);
      const send = () => client.send(command as UpdateCommand, signal ? { abortSignal: signal } : {});
      try {
        const answer = await retrying(options, ["throttled", "unsent"], send, signal);
        const isClear = (answer.$metadata.attempts ?? 1) <= 1;
        if (returns !== "all" || write.kind === "delete") return { kind: "applied", now: undefined, isClear };
        const now = write.kind === "put" ? write.fields : withoutKeys(answer.Attributes ?? {});
        return { kind: "applied", now, isClear };
      } catch (error) {
        return afterFailure(write, error);
      }
    },
    read: reader.many,
    async list({ pk, prefix, isConsistent, limit, after }) {
      const to = createPlaceholders();
      const ofPk = `${to.path([tableKeys.partition])} = ${to.value(pk)}`;
      const ofSk = prefix === "" ? "" : ` AND begins_with(${to.path([tableKeys.sort])}, ${to.value(prefix)})`;
      const command = new QueryCommand({
        ...common,
        KeyConditionExpression: ofPk + ofSk,
        ...to.maps(),
        ConsistentRead: isConsistent,
        ...(limit !== undefined && { Limit: limit }),
        ...(after !== undefined && { ExclusiveStartKey: { [tableKeys.partition]: pk, [tableKeys.sort]: after } }),
      });
      const answer = await reader.ask(`Listing ${prefix}`, () => client.send(command));
      return { items: (answer.Items ?? []).map(withKeys), next: answer.LastEvaluatedKey?.[tableKeys.sort] };
    },
    async find(index, query) {
      const { name, partition, sort } = indexes[index];
      const to = createPlaceholders();
      const ofPartition = `${to.path([partition])} = ${to.value(query.partition)}`;
      const ofSort = query.upTo === undefined ? "" : ` AND ${to.path([sort])} <= ${to.value(query.upTo)}`;
      const command = new QueryCommand({
        ...common,
        IndexName: name,
        KeyConditionExpression: ofPartition + ofSort,
        ...to.maps(),
        ScanIndexForward: !query.isNewestFirst,
        Limit: query.limit,
        ...(query.after !== undefined && { ExclusiveStartKey: JSON.parse(query.after) as Fields }),
      });
      const answer = await reader.ask(`Searching ${name}`, () => client.send(command));
      const last = answer.LastEvaluatedKey;
      return {
        items: (answer.Items ?? []).map((item) => ({ ...keyOf(item), at: Number(item[sort]) })),
        next: last && JSON.stringify(last),
      };
    },
  };
}

type Common = { readonly TableName: string; readonly ReturnConsumedCapacity?: "TOTAL" };

function commandOf(write: Write, isAll: boolean, common: Common): PutCommand | UpdateCommand | DeleteCommand {
  const to = createPlaceholders();
  const key = { [tableKeys.partition]: write.key.pk, [tableKeys.sort]: write.key.sk };
  // an update without a condition would create what it does not find
  const exists = { kind: "exists", path: [tableKeys.partition] } as const;
  const condition = conditionOf(write.kind === "edit" ? [exists, ...write.when] : write.when, to);
  const update = write.kind === "edit" ? updateOf(write.edits, to) : undefined;
  const shared = {
    ...common,
    ...(condition !== undefined && { ConditionExpression: condition }),
    ...to.maps(),
    ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
  };
  if (write.kind === "put") return new PutCommand({ ...shared, Item: { ...write.fields, ...key } });
  if (write.kind === "delete") return new DeleteCommand({ ...shared, Key: key });
  return new UpdateCommand({
    ...shared,
    Key: key,
    ...(update !== undefined && { UpdateExpression: update }),
    ReturnValues: isAll ? "ALL_NEW" : "NONE",
  });
}

function tooBig(write: Write, cause: unknown): Fault {
  return new Fault("row-too-big", `${write.key.sk} would be larger than ${itemBytesMax} bytes.`, {}, { cause });
}

function keyOf(item: Readonly<Record<string, unknown>>): Key {
  return { pk: String(item[tableKeys.partition]), sk: String(item[tableKeys.sort]) };
}
