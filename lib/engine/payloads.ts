import { utf8 } from "../core/bytes.ts";
import { Fault } from "../core/faults.ts";
import type { Json } from "../core/json.ts";
import { fixed } from "../core/limits.ts";
import type { Run } from "../core/run.ts";
import type { Key } from "../ports.ts";
import type { Engine } from "./engine.ts";
import { expiresAtS } from "./records/attempt.ts";
import { payloadAttributes as a, payloadKey, putPayload } from "./records/payload.ts";

/**
 * Stores JSON text beside the row, as an item or, above the item's limit, in the payload store with the item as a pointer.
 * Write-once by key. Throws `payload-too-big` if it fits nowhere, `unavailable` if it is not known to be stored.
 */
export async function storePayload(
  engine: Engine,
  run: Pick<Run, "tenant" | "runId" | "runUid" | "deadlineAtMs">,
  sk: string,
  text: string,
): Promise<void> {
  const bytes = utf8(text);
  if (bytes.length > fixed.payloadBytesMax)
    throw new Fault("payload-too-big", `${bytes.length} bytes; a payload may have ${fixed.payloadBytesMax}`);
  engine.metrics.count("payload-bytes", bytes.length);
  const expires = expiresAtS(run, engine.limits.retentionMs);
  const common = { [a.runUid]: run.runUid, [a.expiresAtS]: expires };
  if (bytes.length <= fixed.itemPayloadBytesMax)
    return await putOnce(engine, payloadKey(run, sk), { ...common, [a.text]: text });
  const name = payloadName(run, sk);
  await engine.payloads.put(name, bytes, { expiresAtS: expires });
  await putOnce(engine, payloadKey(run, sk), { ...common, [a.stored]: name });
}

/** Where the payload store has what a key names. */
export function payloadName(run: Pick<Run, "tenant" | "runId" | "runUid">, sk: string): string {
  return `${run.tenant}/${run.runId}/${run.runUid}/${sk.replaceAll("#", "/")}`;
}

async function putOnce(engine: Engine, key: Key, fields: Parameters<typeof putPayload>[1]): Promise<void> {
  const written = await engine.store.write(putPayload(key, fields));
  if (written.kind === "unclear")
    throw new Fault("unavailable", `a payload may not have been stored: ${written.fault.message}`);
}

/** Reads a payload back. Throws `bad-row` if a record names one that is not there. */
export async function readPayload(engine: Engine, run: Pick<Run, "tenant" | "runId">, sk: string): Promise<Json> {
  const [value = null] = await readPayloads(engine, run, [sk]);
  return value;
}

/** Reads several at one go, in their order. */
export async function readPayloads(
  engine: Engine,
  run: Pick<Run, "tenant" | "runId">,
  names: readonly string[],
): Promise<readonly Json[]> {
  if (names.length === 0) return [];
  const records = await engine.store.read(
    names.map((name) => payloadKey(run, name)),
    { isConsistent: true },
  );
  return await Promise.all(
    records.map(async (record, at) => {
      const text = await payloadText(engine, record);
      if (text === undefined) throw new Fault("bad-row", `payload ${names[at]} is not there`);
      return JSON.parse(text) as Json;
    }),
  );
}

/** The text that a payload record holds or points to. */
async function payloadText(
  engine: Engine,
  record: { readonly [name: string]: unknown } | undefined,
): Promise<string | undefined> {
  const text = record?.[a.text];
  if (typeof text === "string") return text;
  const name = record?.[a.stored];
  if (typeof name !== "string") return undefined;
  const bytes = await engine.payloads.get(name);
  return bytes && new TextDecoder().decode(bytes);
}
