import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { canonicalText } from "./core/json.ts";

/** Address of a JSON value: the first 128 bits of SHA-256 over its canonical text, as 32 hexadecimal characters. */
export function digest(value: unknown): string {
  return bytesToHex(sha256(utf8ToBytes(canonicalText(value)))).slice(0, 32);
}
