/** How many tokens of past writers a guarded record keeps. */
export const tokensKept = 4;

/**
 * Whose write a record holds, seen from a writer whose condition was refused or whose reply was lost.
 * - `mine`: one of its tokens is there. It was applied, whatever the answer said.
 * - `theirs`: it was not applied.
 * - `unknown`: it may have been, and too many have written since for its token to be there still.
 */
export type Authorship = "mine" | "theirs" | "unknown";

/**
 * The question before anything is called a conflict. A client that loses a reply asks again, and the second request is refused by the
 * first one's own success.
 *
 * @param tokens those of this writer that may have been applied
 * @param stored those that the record keeps, of its last {@link tokensKept} writers
 * @param expected the version that the first of the writer's doubtful writes was guarded with
 * @param actual the record's version now
 * @param isClear whether the refusal is certain to be the answer to the only request
 */
export function whose(
  tokens: readonly string[],
  stored: readonly string[],
  expected: number,
  actual: number,
  isClear: boolean,
): Authorship {
  if (tokens.some((token) => stored.includes(token))) return "mine";
  return isClear || actual - expected <= tokensKept ? "theirs" : "unknown";
}

/** The tokens to store with a write: its own first, then those before it, as many as are kept. */
export function withToken(token: string, stored: readonly string[]): readonly string[] {
  return [token, ...stored].slice(0, tokensKept);
}
