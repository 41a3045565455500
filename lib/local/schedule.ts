import { invoke, type LambdaFunction } from "./invocation.ts";

export type ScheduledFunction = LambdaFunction<Readonly<Record<string, never>>, unknown>;

export interface ScheduleOptions {
  readonly functionName: string;
  readonly run: ScheduledFunction;
  readonly timeoutMs: number;
  /** Pause between the end of one call and the start of the next; deployed: a minute. */
  readonly intervalMs: number;
  readonly onFailure: (failure: { readonly functionName: string; readonly error: unknown }) => void;
}

export interface Schedule {
  /** Calls at once, unless a call is under way: then waits for that one. */
  callNow(): Promise<void>;
  /** No further call; waits for the one under way. */
  stop(): Promise<void>;
}

/** Calls a function again and again, never twice at once. Its timer keeps no process alive. */
export function startSchedule(options: ScheduleOptions): Schedule {
  let timer: NodeJS.Timeout | undefined;
  let under: Promise<void> | undefined;
  let isStopped = false;

  const call = async (): Promise<void> => {
    const { functionName, run, timeoutMs, onFailure } = options;
    const invoked = await invoke(functionName, run, {}, timeoutMs);
    if (invoked.kind === "threw") onFailure({ functionName, error: invoked.error });
    if (invoked.kind === "timed-out") onFailure({ functionName, error: new Error(`timed out after ${timeoutMs} ms`) });
  };
  const callNow = (): Promise<void> => {
    if (isStopped) return Promise.resolve();
    clearTimeout(timer);
    under ??= call().finally(() => {
      under = undefined;
      arm();
    });
    return under;
  };
  const arm = (): void => {
    if (!isStopped) timer = setTimeout(() => void callNow(), options.intervalMs).unref();
  };
  arm();
  return {
    callNow,
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await under;
    },
  };
}
