import { TransactWriteItemsCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDynamodbClient, createSqsClient } from "../../../lib/aws/clients.ts";
import { sqsLies } from "../sqs-lies.ts";
import { useMiniStack } from "./ministack.ts";
import { openTable } from "./wire.ts";

const options = useMiniStack();
let sqs: ReturnType<typeof createSqsClient>;
beforeAll(() => {
  sqs = createSqsClient(options());
});
afterAll(() => sqs?.destroy());

sqsLies("MiniStack", () => sqs);

test("a lie: transactions on one item never meet each other, so nothing here conflicts with one (E2, D4)", async () => {
  const db = createDynamodbClient(options());
  const { tableName, close } = await openTable(options());
  const update = {
    TableName: tableName,
    Key: { pk: { S: "t#lie" }, sk: { S: "STATE" } },
    UpdateExpression: "ADD n :one",
    ExpressionAttributeValues: { ":one": { N: "1" } },
  };
  const all = Array.from({ length: 20 }, () =>
    db.send(new TransactWriteItemsCommand({ TransactItems: [{ Update: update }] })),
  );
  expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(all.map(() => "fulfilled"));
  db.destroy();
  await close();
});
