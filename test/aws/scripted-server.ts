import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a scripted service does with a request: answer, answer nothing at all, or cut the connection. */
export type Reply =
  | { readonly status: number; readonly body: object }
  | "silence"
  | "hang-up"
  | ((asked: Asked) => { readonly status: number; readonly body: object });

export interface Asked {
  readonly operation: string;
  readonly input: Record<string, unknown>;
}

/** An AWS service of JSON protocol that plays a script, one reply a request and the last one for ever, and keeps what it was asked. */
export async function startScripted(...script: readonly Reply[]) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      const one = { operation: String(request.headers["x-amz-target"]).split(".")[1] ?? "", input: JSON.parse(text) };
      asked.push(one);
      const reply = script[Math.min(asked.length, script.length) - 1] ?? "hang-up";
      play(response, typeof reply === "function" ? reply(one) : reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

function play(response: ServerResponse, reply: Exclude<Reply, (asked: Asked) => unknown>): void {
  if (reply === "silence") return;
  if (reply === "hang-up") return void response.destroy();
  response.writeHead(reply.status, { "content-type": "application/x-amz-json-1.0" });
  response.end(JSON.stringify(reply.body));
}

export const ok = (body: object = {}) => ({ status: 200, body });

/** An error as services of this protocol put it. */
export const error = (name: string, more: object = {}, status = 400) => ({
  status,
  body: { __type: `com.amazonaws.service#${name}`, message: `Some prose about ${name}`, ...more },
});
