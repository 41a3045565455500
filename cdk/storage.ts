import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { AttributeType, Billing, type CfnGlobalTable, ProjectionType, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { BlockPublicAccess, Bucket, BucketEncryption, type LifecycleRule } from "aws-cdk-lib/aws-s3";
import type { Construct } from "constructs";
import { indexes, keepDays, keepDaysTag, tableKeys } from "../lib/aws/names.ts";
import { acknowledge } from "./acknowledged.ts";

interface StorageOptions {
  readonly removalPolicy: RemovalPolicy;
  readonly kmsKey: IKey | undefined;
}

/**
 * The table: on demand, both sparse keys-only indexes, TTL as the garbage collector, point-in-time recovery. One region only: a replica
 * would let the last writer win, without an error, and void every condition.
 */
export function createTable(scope: Construct, { removalPolicy, kmsKey }: StorageOptions): TableV2 {
  const string = (name: string) => ({ name, type: AttributeType.STRING });
  const number = (name: string) => ({ name, type: AttributeType.NUMBER });
  const table = new TableV2(scope, "Table", {
    partitionKey: string(tableKeys.partition),
    sortKey: string(tableKeys.sort),
    billing: Billing.onDemand(),
    timeToLiveAttribute: tableKeys.expiry,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection: removalPolicy !== RemovalPolicy.DESTROY,
    removalPolicy,
    globalSecondaryIndexes: Object.values(indexes).map(({ name, partition, sort }) => ({
      indexName: name,
      partitionKey: string(partition),
      sortKey: number(sort),
      projectionType: ProjectionType.KEYS_ONLY,
    })),
  });
  if (kmsKey) encrypt(table, kmsKey);
  return table;
}

/** By hand: the CDK's own way asks for a stack whose region is known, for the sake of replicas that this table must not have. */
function encrypt(table: TableV2, kmsKey: IKey): void {
  const resource = table.node.defaultChild as CfnGlobalTable;
  resource.addPropertyOverride("SSESpecification", { SSEEnabled: true, SSEType: "KMS" });
  resource.addPropertyOverride("Replicas.0.SSESpecification", { KMSMasterKeyId: kmsKey.keyArn });
}

/**
 * Lifecycle rules of a bucket for payloads. Objects say by a tag which rule collects them: S3 knows no expiry of one object. A bucket
 * that is given to the construct needs them, or it grows for ever: `new Bucket(this, "Payloads", { lifecycleRules: [...payloadRules] })`.
 */
export const payloadRules: readonly LifecycleRule[] = [
  ...keepDays.map((days) => ({
    id: `${keepDaysTag}-${days}`,
    tagFilters: { [keepDaysTag]: String(days) },
    expiration: Duration.days(days),
  })),
  { id: "unfinished-uploads", abortIncompleteMultipartUploadAfter: Duration.days(1) },
];

/** The bucket of payloads too big for the table. */
export function createBucket(scope: Construct, { removalPolicy, kmsKey }: StorageOptions): Bucket {
  const bucket = new Bucket(scope, "Payloads", {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    ...(kmsKey
      ? { encryption: BucketEncryption.KMS, encryptionKey: kmsKey, bucketKeyEnabled: true }
      : { encryption: BucketEncryption.S3_MANAGED }),
    enforceSSL: true,
    removalPolicy,
    lifecycleRules: [...payloadRules],
  });
  acknowledge(
    bucket,
    "AwsSolutions-S1",
    "Only the installation's own functions read and write payloads. Who wants each access on record gives a bucket of their own.",
  );
  return bucket;
}
