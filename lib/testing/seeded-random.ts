import type { Random } from "../ports.ts";

/** Randomness that a seed repeats, and what tests draw beside fractions. */
export interface SeededRandom extends Random {
  /** A whole number in [0, below). */
  integer(below: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** A copy in another order. */
  shuffle<T>(items: readonly T[]): T[];
  /** A generator of its own, so that one part of a simulation drawing more does not change another. */
  fork(label: string): SeededRandom;
}

/**
 * The generator sfc32 of PractRand: 128 bits of state with a counter in it, so its period is at least 2^32 from any seed; passes
 * the common batteries. Not for secrets.
 */
export function createSeededRandom(seed: number | string): SeededRandom {
  const text = String(seed);
  let a = hash(text, 0x9e3779b9);
  let b = hash(text, 0x243f6a88);
  let c = hash(text, 0xb7e15162);
  let counter = 1;

  function next(): number {
    const result = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + result) | 0;
    return result >>> 0;
  }
  for (let round = 0; round < 12; round++) next();

  const fraction = (): number => next() / 2 ** 32;
  const integer = (below: number): number => Math.floor(fraction() * below);
  return {
    fraction,
    token: () => next().toString(16).padStart(8, "0") + next().toString(16).padStart(8, "0"),
    integer,
    chance: (probability) => fraction() < probability,
    pick: (items) => items[integer(items.length)] as (typeof items)[number],
    shuffle(items) {
      const result = [...items];
      for (let last = result.length - 1; last > 0; last--) {
        const other = integer(last + 1);
        [result[last], result[other]] = [result[other], result[last]] as [
          (typeof items)[number],
          (typeof items)[number],
        ];
      }
      return result;
    },
    fork: (label) => createSeededRandom(`${text}/${label}`),
  };
}

/** FNV-1a with a finish, over a text: seeds that differ in one character give states that differ everywhere. */
function hash(text: string, basis: number): number {
  let value = basis;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) | 0;
}
