import { createHash, createHmac } from "node:crypto";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { SignatureV4 } from "@smithy/signature-v4";

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

/** SHA-256 as the signer wants it. */
class Sha256 {
  private readonly hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.hash = secret === undefined ? createHash("sha256") : createHmac("sha256", secret as string);
  }
  update(data: Uint8Array | string): void {
    this.hash.update(data);
  }
  async digest(): Promise<Uint8Array> {
    return new Uint8Array(this.hash.digest());
  }
}

/**
 * Asks the deployed API, signed, as IAM wants it. On an emulator an API's name resolves to nothing: it is reached at the emulator's
 * port, by its Host header.
 */
export function createApiClient(
  apiUrl: string,
  port: number,
  credentials = { accessKeyId: "test", secretAccessKey: "test" },
) {
  const signer = new SignatureV4({ service: "execute-api", region: "us-east-1", credentials, sha256: Sha256 });
  const { host } = new URL(apiUrl);

  return async function ask(
    method: string,
    path: string,
    { body, isSigned = true }: { readonly body?: unknown; readonly isSigned?: boolean } = {},
  ): Promise<ApiAnswer> {
    const content = body === undefined ? undefined : JSON.stringify(body);
    const plain = {
      method,
      protocol: "http:",
      hostname: host,
      path,
      query: {},
      headers: { host, ...(content !== undefined && { "content-type": "application/json" }) },
      ...(content !== undefined && { body: content }),
    };
    const { headers } = isSigned ? await signer.sign(plain) : plain;
    const answer = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
      const sent = request({ host: "127.0.0.1", port, method, path, headers }, resolve);
      sent.once("error", reject);
      sent.end(content);
    });
    const said = await text(answer);
    const isJson = /json/.test(answer.headers["content-type"] ?? "");
    return {
      status: answer.statusCode ?? 0,
      headers: answer.headers,
      body: isJson && said !== "" ? JSON.parse(said) : said,
    };
  };
}

export type Ask = ReturnType<typeof createApiClient>;
