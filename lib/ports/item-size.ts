import type { Fields, Key, Value } from "../ports.ts";

/** DynamoDB refuses an item above 400 KB, its attribute names counted. */
export const itemBytesMax = 400 * 1024;

/**
 * Bytes of an item by the published rules: names and values in UTF-8; a number about a byte for two significant digits and one
 * more; a boolean one; a list or map three, and one more for each element.
 * Source: DynamoDB Developer Guide, "DynamoDB item sizes and formats".
 */
export function itemBytes(item: Fields & Key): number {
  return fieldsBytes(item);
}

function fieldsBytes(fields: Fields): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(fields)) bytes += textBytes(name) + valueBytes(value);
  return bytes;
}

function valueBytes(value: Value): number {
  if (typeof value === "string") return textBytes(value);
  if (typeof value === "number") return numberBytes(value);
  if (typeof value === "boolean") return 1;
  if (value instanceof Uint8Array) return value.length;
  if (Array.isArray(value)) return value.reduce((sum, item) => sum + 1 + valueBytes(item), 3);
  return 3 + Object.keys(value).length + fieldsBytes(value as Fields);
}

/**
 * Digits are stored in pairs that begin at the decimal point, leading and trailing zeros trimmed; one byte more for the exponent, one
 * more for the sign of a negative number, at most 21.
 */
function numberBytes(value: number): number {
  if (value === 0) return 1;
  const [mantissa = "", exponent = "0"] = Math.abs(value).toExponential().split("e");
  const digits = mantissa.replace(".", "").length;
  const isOddPower = Number(exponent) % 2 !== 0;
  const pairs = Math.ceil(digits / 2) + (digits % 2 !== 0 || isOddPower ? 0 : 1);
  return Math.min(21, 1 + pairs + (value < 0 ? 1 : 0));
}

function textBytes(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x80) bytes += 1;
    else if (code < 0x800) bytes += 2;
    else if (code >= 0xd800 && code <= 0xdbff) {
      bytes += 4;
      index++;
    } else bytes += 3;
  }
  return bytes;
}
