import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { AttributeType, Billing, ProjectionType, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { BlockPublicAccess, Bucket, BucketEncryption } from "aws-cdk-lib/aws-s3";
import type { Construct } from "constructs";
import { indexes, keepDays, keepDaysTag, tableKeys } from "../lib/aws/names.ts";

/**
 * The table: on demand, both sparse keys-only indexes, TTL as the garbage collector, point-in-time recovery. One region only: a replica
 * would let the last writer win, without an error, and void every condition.
 */
export function createTable(scope: Construct, removalPolicy: RemovalPolicy): TableV2 {
  const string = (name: string) => ({ name, type: AttributeType.STRING });
  const number = (name: string) => ({ name, type: AttributeType.NUMBER });
  return new TableV2(scope, "Table", {
    partitionKey: string(tableKeys.partition),
    sortKey: string(tableKeys.sort),
    billing: Billing.onDemand(),
    timeToLiveAttribute: tableKeys.expiry,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection: removalPolicy === RemovalPolicy.RETAIN,
    removalPolicy,
    globalSecondaryIndexes: Object.values(indexes).map(({ name, partition, sort }) => ({
      indexName: name,
      partitionKey: string(partition),
      sortKey: number(sort),
      projectionType: ProjectionType.KEYS_ONLY,
    })),
  });
}

/** The bucket of payloads too big for the table. Objects say by a tag which rule collects them: S3 knows no expiry of one object. */
export function createBucket(scope: Construct, removalPolicy: RemovalPolicy): Bucket {
  return new Bucket(scope, "Payloads", {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    removalPolicy,
    lifecycleRules: [
      ...keepDays.map((days) => ({
        id: `${keepDaysTag}-${days}`,
        tagFilters: { [keepDaysTag]: String(days) },
        expiration: Duration.days(days),
      })),
      { id: "unfinished-uploads", abortIncompleteMultipartUploadAfter: Duration.days(1) },
    ],
  });
}
