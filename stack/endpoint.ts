import { connect } from "node:net";
import { delimiter, join } from "node:path";
import { root } from "./state.ts";

/** What answers on a port. */
export type Listener = "ministack" | "localstack" | "something else" | "nothing";

/** Where everything expects a LocalStack-compatible endpoint, unless the environment says otherwise. */
export function portOf(env: NodeJS.ProcessEnv): number {
  const text = env["TICKWRIGHT_STACK_PORT"] ?? "4566";
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new Error(`TICKWRIGHT_STACK_PORT is ${text}: it must be a port, 1 to 65535.`);
}

export const endpointAt = (port: number): string => `http://localhost:${port}`;

/** What the AWS SDK, the CDK's CLI and the functions on the endpoint are told. Its functions run on the node that is first here. */
export function envFor(port: number): Record<string, string> {
  return {
    AWS_ENDPOINT_URL: endpointAt(port),
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_REGION: "us-east-1",
    AWS_DEFAULT_REGION: "us-east-1",
    PATH: [join(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter),
  };
}

/** Asks both for their health. Whatever answers, and not with the list of its services, is something else: web servers say 200 to any path. */
export async function listenerAt(port: number): Promise<Listener> {
  for (const kind of ["ministack", "localstack"] as const) {
    if (await hasServices(`${endpointAt(port)}/_${kind}/health`)) return kind;
  }
  return (await isTaken(port)) ? "something else" : "nothing";
}

async function hasServices(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    const said = (await answer.json()) as { readonly services?: unknown } | null;
    return answer.ok && typeof said?.services === "object" && said.services !== null;
  } catch {
    // nothing listens, or it does not speak JSON
    return false;
  }
}

/** Waits until it answers; throws what `onGiveUp` says if it does not in time. */
export async function untilUp(port: number, options: { limitMs: number; onGiveUp: () => string }): Promise<void> {
  const endsAtMs = performance.now() + options.limitMs;
  while (!["ministack", "localstack"].includes(await listenerAt(port))) {
    if (performance.now() > endsAtMs) throw new Error(options.onGiveUp());
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", timeout: 2_000 });
    const end = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
    socket.once("timeout", () => end(false));
  });
}
