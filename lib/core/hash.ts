/**
 * A quick 53-bit hash (two multiplicative lanes, finalised as MurmurHash3 does). It spreads shards and jitter and catches damaged
 * rows; it is no protection against somebody who wants a collision. Part of format 1: shards and checksums are stored.
 */
export function hash53(bytes: Uint8Array, seed = 0): number {
  let a = 0x9e3779b9 ^ seed;
  let b = 0x85ebca6b ^ seed;
  for (const byte of bytes) {
    a = Math.imul(a ^ byte, 0x01000193);
    b = Math.imul(b ^ byte, 0x5bd1e995);
    b ^= b >>> 15;
  }
  a = mixed(a ^ bytes.length);
  b = mixed(b ^ a);
  return (b >>> 0) + (a & 0x1fffff) * 2 ** 32;
}

function mixed(value: number): number {
  let h = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** The same for text. */
export function hashText(text: string, seed = 0): number {
  return hash53(new TextEncoder().encode(text), seed);
}

/** A number in [0, 1) that depends on the text alone. */
export function fractionOf(text: string): number {
  return hashText(text) / 2 ** 53;
}
