import {
  CreateTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import { indexes, tableKeys } from "./names.ts";

/**
 * Creates the table with both indexes, on demand, unless it exists, and waits until it can be used. For the embedded stack and
 * tests: an installation's table is made by its own infrastructure code.
 */
export async function createTable(client: DynamoDBClient, tableName: string): Promise<void> {
  const all = Object.values(indexes);
  const command = new CreateTableCommand({
    TableName: tableName,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: [
      { AttributeName: tableKeys.partition, AttributeType: "S" },
      { AttributeName: tableKeys.sort, AttributeType: "S" },
      ...all.map(({ partition }) => ({ AttributeName: partition, AttributeType: "S" as const })),
      ...all.map(({ sort }) => ({ AttributeName: sort, AttributeType: "N" as const })),
    ],
    KeySchema: keySchema(tableKeys.partition, tableKeys.sort),
    GlobalSecondaryIndexes: all.map(({ name, partition, sort }) => ({
      IndexName: name,
      KeySchema: keySchema(partition, sort),
      Projection: { ProjectionType: "KEYS_ONLY" as const },
    })),
  });
  try {
    await client.send(command);
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
  await waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 1, maxDelay: 2 }, { TableName: tableName });
}

function keySchema(partition: string, sort: string) {
  return [
    { AttributeName: partition, KeyType: "HASH" as const },
    { AttributeName: sort, KeyType: "RANGE" as const },
  ];
}
