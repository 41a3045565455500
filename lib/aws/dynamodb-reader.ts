import { BatchGetCommand, type DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import { Fault } from "../core/faults.ts";
import { pauseBefore } from "../guard/windows.ts";
import type { Fields, Key, RunStore } from "../ports.ts";
import { toFault } from "./errors.ts";
import { tableKeys } from "./names.ts";
import { type Patience, retrying, retryWindowsMs } from "./retry.ts";
import { withoutKeys } from "./returned-item.ts";

/** Reads by key, and asks anything that may be asked twice. */
export interface DynamodbReader {
  one(key: Key, isConsistent: boolean): Promise<Fields | undefined>;
  readonly many: RunStore["read"];
  /** Repeats a read while the failure may pass; throws it as a `Fault` at last. */
  ask<T>(doing: string, send: () => Promise<T>): Promise<T>;
}

/** `BatchGetItem` takes this many keys, all different. */
const batchKeysMax = 100;

export function createDynamodbReader(
  client: DynamoDBDocumentClient,
  common: { readonly TableName: string; readonly ReturnConsumedCapacity?: "TOTAL" },
  patience: Patience,
): DynamodbReader {
  async function ask<T>(doing: string, send: () => Promise<T>): Promise<T> {
    try {
      return await retrying(patience, ["throttled", "unsent", "transient"], send);
    } catch (error) {
      throw toFault(error, doing);
    }
  }

  async function one(key: Key, isConsistent: boolean): Promise<Fields | undefined> {
    const command = new GetCommand({ ...common, Key: itemKey(key), ConsistentRead: isConsistent });
    const { Item: item } = await ask(`Reading ${key.sk}`, () => client.send(command));
    return item && withoutKeys(item);
  }

  async function batch(keys: readonly Key[], isConsistent: boolean): Promise<readonly Record<string, unknown>[]> {
    const { TableName: table, ...metering } = common;
    const items: Record<string, unknown>[] = [];
    let open: Record<string, unknown>[] = keys.map(itemKey);
    for (let attempt = 1; open.length > 0; attempt++) {
      const pauseMs = pauseBefore(attempt, patience.random, retryWindowsMs);
      if (pauseMs === undefined)
        throw new Fault("throttled", `Reading ${open.length} records: the store left them unread.`);
      await patience.clock.sleep(pauseMs);
      const command = new BatchGetCommand({
        ...metering,
        RequestItems: { [table]: { Keys: open, ConsistentRead: isConsistent } },
      });
      const answer = await ask(`Reading ${open.length} records`, () => client.send(command));
      items.push(...(answer.Responses?.[table] ?? []));
      open = answer.UnprocessedKeys?.[table]?.Keys ?? [];
    }
    return items;
  }

  return {
    one,
    ask,
    async many(keys, { isConsistent }) {
      if (keys.length === 1 && keys[0]) return [await one(keys[0], isConsistent)];
      const distinct = [...new Map(keys.map((key) => [idOf(key), key])).values()];
      const chunks = Array.from({ length: Math.ceil(distinct.length / batchKeysMax) }, (_, index) =>
        distinct.slice(index * batchKeysMax, (index + 1) * batchKeysMax),
      );
      const items = (await Promise.all(chunks.map((chunk) => batch(chunk, isConsistent)))).flat();
      const found = new Map(
        items.map((item) => [`${item[tableKeys.partition]}\u0000${item[tableKeys.sort]}`, withoutKeys(item)]),
      );
      return keys.map((key) => found.get(idOf(key)));
    },
  };
}

function itemKey(key: Key): Record<string, string> {
  return { [tableKeys.partition]: key.pk, [tableKeys.sort]: key.sk };
}

function idOf(key: Key): string {
  return `${key.pk}\u0000${key.sk}`;
}
