import { processClock as clock } from "../../lib/aws/process.ts";
import { createS3Payloads } from "../../lib/aws/s3-payloads.ts";
import { payloadsContract } from "./payloads.contract.ts";
import { openSqs } from "./servers.ts";

payloadsContract("S3 (fauxqs)", async () => {
  const { s3, bucket, close } = await openSqs([], { visibilitySeconds: 30, maxReceiveCount: 2 });
  return { payloads: createS3Payloads({ client: s3, bucket, clock }), close };
});
