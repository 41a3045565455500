import { type ParseArgsConfig, parseArgs } from "node:util";

/**
 * The frame of a command: reads what it was asked, prints its help on `--help`, and ends with what it gives. What nobody can make sense of
 * (an unknown option, a `RangeError` of the command) is told with the help, and ends with 2; all other errors are the command's own.
 */
export async function runCommand<const T extends ParseArgsConfig>(
  help: string,
  config: T,
  run: (asked: ReturnType<typeof parseArgs<T>>) => Promise<number>,
): Promise<void> {
  try {
    const asked = parseArgs<T>({ ...config, options: { ...config.options, help: { type: "boolean" } } });
    if ((asked.values as { readonly help?: boolean }).help) process.stdout.write(help);
    else process.exitCode = await run(asked);
  } catch (error) {
    if (!isMisuse(error)) throw error;
    process.stderr.write(`${error.message}\n\n${help}`);
    process.exitCode = 2;
  }
}

const isMisuse = (error: unknown): error is Error =>
  error instanceof RangeError ||
  (error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS"));

/** One of the names that are allowed. */
export function named(name: string, allowed: readonly string[]): string {
  if (allowed.includes(name)) return name;
  throw new RangeError(`"${name}" is none of ${allowed.join(", ")}`);
}

/** A whole number from `least`. */
export function whole(text: string, least = 0): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isInteger(value) && value >= least) return value;
  throw new RangeError(`"${text}" is no whole number${least > 0 ? ` from ${least}` : ""}`);
}
