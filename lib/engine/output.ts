import { utf8 } from "../core/bytes.ts";
import type { Json } from "../core/json.ts";
import { sk } from "../core/keys.ts";
import { fixed } from "../core/limits.ts";
import type { Engine } from "./engine.ts";
import { storePayload } from "./payloads.ts";
import type { Owner, StoredOutput } from "./records/attempt.ts";

/**
 * Puts an attempt's output where it belongs: small ones go into the record, bigger ones beside it under the attempt's token,
 * before the record that names them. Nothing for an output that is not there.
 */
export async function storeOutput(
  engine: Engine,
  run: Owner,
  id: { readonly node: number; readonly index: number },
  token: string,
  value: Json | undefined,
  bytesMax: number = fixed.recordOutputBytesMax,
): Promise<StoredOutput | undefined> {
  if (value === undefined) return undefined;
  const text = JSON.stringify(value);
  if (utf8(text).length <= bytesMax) return { kind: "value", text };
  await storePayload(engine, run, sk.output(run.runUid, id.node, id.index, token), text);
  return { kind: "payload", token };
}
