import { CfnOutput, Stack, type StackProps } from "aws-cdk-lib";
import type { Construct } from "constructs";
import type { TickwrightProps } from "./props.ts";
import { Tickwright } from "./tickwright.ts";

export type TickwrightStackProps = StackProps & TickwrightProps;

/** The construct alone in a stack, with what one needs to find its parts. */
export class TickwrightStack extends Stack {
  readonly tickwright: Tickwright;

  constructor(scope: Construct, id: string, props: TickwrightStackProps) {
    super(scope, id, props);
    this.tickwright = new Tickwright(this, "Tickwright", props);
    new CfnOutput(this, "TableName", { value: this.tickwright.table.tableName });
    new CfnOutput(this, "QueueBase", { value: this.tickwright.queueBase });
    if (this.tickwright.api) new CfnOutput(this, "ApiUrl", { value: this.tickwright.api.http.apiEndpoint });
    if (this.tickwright.bucket) new CfnOutput(this, "BucketName", { value: this.tickwright.bucket.bucketName });
  }
}
