/** A function in a process of its own, called once: `node invocation.ts BUNDLE EVENT`. Prints its answer as the last line. */
const [, , file = "", event = ""] = process.argv;
const { handler } = (await import(file)) as { handler(event: unknown, context: unknown): Promise<unknown> };
const endsAtMs = performance.now() + 30_000;
const answer = await handler(JSON.parse(event), { getRemainingTimeInMillis: () => endsAtMs - performance.now() });
process.stdout.write(`${JSON.stringify(answer)}\n`);
