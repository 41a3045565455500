import type { Server } from "node:net";

/** A server of the embedded stack, on loopback. */
export interface Endpoint {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** The region that the embedded stack plays; nothing depends on which. */
export const region = "us-east-1";
/** Credentials that the embedded servers take; they check none. */
export const credentials = { accessKeyId: "local", secretAccessKey: "local" } as const;
/** The account that the embedded SQS server plays. */
export const account = "000000000000";

/** Listens on loopback, and says what to do when the port is taken. */
export async function listening(
  service: string,
  port: number,
  listen: (at: { host: string; port: number }) => Promise<unknown>,
): Promise<void> {
  try {
    await listen({ host: "127.0.0.1", port });
  } catch (cause) {
    const code = (cause as { code?: unknown }).code;
    if (code !== "EADDRINUSE" && code !== "EACCES") throw cause;
    const why = code === "EACCES" ? "may not be used by this user" : "is taken by another process";
    throw new Error(
      `Port ${port} for ${service} ${why}. Stop that process, or choose another port (0: any free one).`,
      {
        cause,
      },
    );
  }
}

/** The same for a server of this process; gives where it listens. */
export async function listeningAt(service: string, server: Server, port: number): Promise<Omit<Endpoint, "stop">> {
  await listening(service, port, (at) => {
    return new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(at.port, at.host, () => {
        server.off("error", reject);
        resolve();
      });
    });
  });
  const address = server.address();
  const taken = typeof address === "object" && address ? address.port : port;
  return { url: `http://127.0.0.1:${taken}`, port: taken };
}
