/** What is asked of the store at once on behalf of one run. */
export const atOnceMax = 8;

/** Does a few at a time, and gives what each came to, in order. */
export async function inTurns<T, R>(all: readonly T[], act: (each: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < all.length; at += atOnceMax)
    results.push(...(await Promise.all(all.slice(at, at + atOnceMax).map(act))));
  return results;
}
