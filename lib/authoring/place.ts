/**
 * Where in the user's source the package was called, as `file:line:column`; `undefined` if that cannot be told (a bundle).
 * Costs a stack trace, so only a build that already knows of faults asks.
 */
export function callerPlace(): string | undefined {
  const here = folderOf(import.meta.url);
  if (here === undefined) return undefined;
  const usual = Error.stackTraceLimit;
  Error.stackTraceLimit = 50;
  const [, ...frames] = new Error().stack?.split("\n") ?? [];
  Error.stackTraceLimit = usual;
  const caller = frames.find(
    (frame) => !frame.includes(here) && !frame.includes("node:") && !frame.includes("(<anonymous>)"),
  );
  return caller?.match(/(?:file:\/\/)?([^\s()]+:\d+:\d+)\)?$/)?.[1];
}

function folderOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : new URL(".", url).pathname;
}
