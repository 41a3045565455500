import type { IVpc, Vpc } from "aws-cdk-lib/aws-ec2";
import { type IRole, ManagedPolicy, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { ILogGroup } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { acknowledge, acknowledgeWildcard } from "./acknowledged.ts";

const vpcPolicy = "service-role/AWSLambdaVPCAccessExecutionRole";

interface RoleParts {
  readonly description: string;
  readonly role?: IRole;
  readonly vpc?: IVpc | Vpc;
  readonly logGroup: ILogGroup;
}

/**
 * The role of one function, which may write its own log group and nothing more until it is granted more. Lambda's managed policy for that, which
 * reaches every log group of the account, is not used. A function in a VPC gets AWS's own policy for network interfaces.
 */
export function roleFor(scope: Construct, id: string, { description, role: given, vpc, logGroup }: RoleParts): IRole {
  const role =
    given ?? new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal("lambda.amazonaws.com"), description });
  logGroup.grantWrite(role);
  if (vpc) role.addManagedPolicy(ManagedPolicy.fromAwsManagedPolicyName(vpcPolicy));
  if (given === undefined) {
    acknowledgeWildcard(
      role,
      "*",
      "X-Ray's actions know no resource: xray:PutTraceSegments and xray:PutTelemetryRecords.",
    );
    if (vpc)
      acknowledge(
        role,
        `AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${vpcPolicy}]`,
        "The network interfaces of a function in a VPC: AWS's own policy, as EC2 creates them under names nobody knows before.",
      );
  }
  return role;
}
