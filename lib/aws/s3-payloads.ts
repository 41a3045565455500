import {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { Fault } from "../core/faults.ts";
import type { Clock, PayloadStore } from "../ports.ts";
import { toFault } from "./errors.ts";
import { keepDays, keepDaysTag } from "./names.ts";

export interface S3PayloadsOptions {
  readonly client: S3Client;
  readonly bucket: string;
  readonly clock: Pick<Clock, "nowMs">;
}

/**
 * Payloads as objects of a bucket. S3 has no expiry of a single object, so each carries the tag `keep-days`, the first of a few classes
 * that covers its expiry; the bucket's lifecycle rules, one a class, collect them. Throws `unavailable`, `throttled` or `denied`.
 */
export function createS3Payloads({ client, bucket, clock }: S3PayloadsOptions): PayloadStore {
  async function guarded<T>(doing: string, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw toFault(error, doing);
    }
  }

  return {
    async put(name, bytes, { expiresAtS }) {
      const command = new PutObjectCommand({
        Bucket: bucket,
        Key: name,
        Body: bytes,
        Tagging: `${keepDaysTag}=${keepDaysOf(expiresAtS, clock.nowMs())}`,
      });
      await guarded(`Storing the payload ${name}`, () => client.send(command));
    },
    get: (name) =>
      guarded(`Reading the payload ${name}`, async () => {
        try {
          const answer = await client.send(new GetObjectCommand({ Bucket: bucket, Key: name }));
          return await answer.Body?.transformToByteArray();
        } catch (error) {
          if (error instanceof NoSuchKey) return undefined;
          throw error;
        }
      }),
    remove: (prefix) =>
      guarded(`Removing the payloads ${prefix}`, async () => {
        for (;;) {
          const page = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix }));
          const objects = (page.Contents ?? []).map(({ Key }) => ({ Key: Key ?? "" }));
          if (objects.length > 0) {
            const command = new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: objects, Quiet: true } });
            const { Errors: errors = [] } = await client.send(command);
            if (errors[0]) throw Object.assign(new Error(errors[0].Message), { name: errors[0].Code });
          }
          if (!page.IsTruncated) return;
        }
      }),
  };
}

/** The lifecycle class of an expiry: the first that is not too short, or else the longest. */
export function keepDaysOf(expiresAtS: number, nowMs: number): number {
  const days = Math.ceil((expiresAtS - nowMs / 1000) / 86_400);
  return keepDays.find((kept) => kept >= days) ?? keepDays[keepDays.length - 1] ?? days;
}

/**
 * For an installation without a bucket: what does not fit an item is refused with the fault `payload-too-big`, which says how big it is
 * and how big it may be.
 */
export function createNoPayloads(bytesMax: number): PayloadStore {
  return {
    async put(name, bytes) {
      throw new Fault(
        "payload-too-big",
        `The payload ${name} has ${bytes.length} bytes; without a payload bucket at most ${bytesMax} can be stored.`,
        { bytes: bytes.length, bytesMax },
      );
    },
    get: async () => undefined,
    remove: async () => undefined,
  };
}
