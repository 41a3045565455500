import { Stack } from "aws-cdk-lib";
import { type IGrantable, PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";

/** What DynamoDB asks of the key on behalf of whoever reads and writes items. */
const tableActions = ["Decrypt", "DescribeKey", "Encrypt", "GenerateDataKey", "ReEncryptFrom", "ReEncryptTo"];
/** What SQS and S3 ask of it. */
const dataKeyActions = ["Decrypt", "GenerateDataKey"];

/** CloudWatch Logs encrypts the log groups of this account with the key. Reaches a key's policy only if the key is made in this app. */
export function letLogsUse(scope: Construct, key: IKey): void {
  const { region, account, partition } = Stack.of(scope);
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal(`logs.${region}.amazonaws.com`)],
      actions: ["kms:Encrypt*", "kms:Decrypt*", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:Describe*"],
      // of a key's own policy: this key
      resources: ["*"],
      conditions: {
        ArnLike: { "kms:EncryptionContext:aws:logs:arn": `arn:${partition}:logs:${region}:${account}:log-group:*` },
      },
    }),
    true,
  );
}

/** Using the key through the services that hold the data, and not by itself: a function cannot decrypt what it was handed otherwise. */
export function grantKey(
  scope: Construct,
  to: IGrantable,
  key: IKey,
  services: readonly ("dynamodb" | "sqs" | "s3")[],
): void {
  for (const service of services) {
    const actions = service === "dynamodb" ? tableActions : dataKeyActions;
    to.grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({
        actions: actions.map((action) => `kms:${action}`),
        resources: [key.keyArn],
        conditions: { StringEquals: { "kms:ViaService": `${service}.${Stack.of(scope).region}.amazonaws.com` } },
      }),
    );
  }
}
