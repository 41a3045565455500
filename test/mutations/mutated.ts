import type { Mutation } from "./table.ts";

/** The source without the rule. Throws if a text is not there exactly once. */
export function mutated(source: string, mutation: Mutation): string {
  return [mutation, ...(mutation.also ?? [])].reduce((text, { find, replace }) => {
    const count = text.split(find).length - 1;
    if (count !== 1) throw new Error(`${mutation.id}: found ${count} times in ${mutation.file}, not once:\n${find}`);
    return text.replace(find, () => replace);
  }, source);
}
