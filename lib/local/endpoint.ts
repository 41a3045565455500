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
