/** What JavaScript does to a reference as if it were the value, and what to write instead. */
export const misuses = {
  text: "cannot become text: write the operator text to join it, eq(ref, ...) to compare it",
  number: "cannot be compared or computed with: use eq, gt, gte, lt or lte, and a step for arithmetic",
  iterate: "cannot be looped over: use flow.map for work on each item, at(ref, 0) for one of them",
  call: "cannot be called: use flow.map for lists, an operator or a step for the rest",
  await:
    'cannot be awaited: nothing runs while the graph is built, so pass it on as it is (a field "then" is at(ref, "then"))',
  json: 'cannot become JSON: return it or pass it to a step, or print it with console.log (a field "toJSON" is at(ref, "toJSON"))',
  spread: "cannot be spread or listed: pass it whole, or name the fields you need",
  has: "cannot be asked with `in`: use exists(ref.field)",
  change: "cannot be changed: write a new object with the fields you need",
} as const;

export type Misuse = keyof typeof misuses;
