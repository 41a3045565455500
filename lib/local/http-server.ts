import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { exchange } from "../core/limits.ts";
import type { HttpRequest, HttpResponse } from "../ports/exchange.ts";
import { type Endpoint, listeningAt } from "./endpoint.ts";

export interface HttpServerOptions {
  /** 0: any free port. */
  readonly port: number;
  /** Must not throw. */
  readonly answer: (request: HttpRequest) => Promise<HttpResponse>;
}

/**
 * What a gateway does on AWS, on loopback: every caller is this machine's developer. Loopback keeps other machines out but not web pages
 * in this machine's browser, so a request that one of them sends, or that comes by another name (DNS rebinding), is turned away.
 */
export async function startHttpServer({ port, answer }: HttpServerOptions): Promise<Endpoint> {
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing, answer).catch(() => void outgoing.destroy());
  });
  return {
    ...(await listeningAt("the API", server, port)),
    stop: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeIdleConnections();
      }),
  };
}

async function serve(incoming: IncomingMessage, outgoing: ServerResponse, answer: HttpServerOptions["answer"]) {
  if (isForeign(incoming)) return void outgoing.writeHead(403).end();
  const body = await bodyOf(incoming);
  const { status, headers, ...more } = await answer({
    method: incoming.method ?? "GET",
    path: (incoming.url ?? "/").replace(/[?#].*$/, ""),
    headers: headersOf(incoming),
    body,
    identity: { kind: "local", name: "developer" },
    requestId: undefined,
  });
  // a body that was not read to its end leaves the connection in no state to go on
  outgoing.writeHead(status, { ...headers, ...(!incoming.complete && { connection: "close" }) });
  outgoing.end(more.body);
}

function isForeign({ headers, socket }: IncomingMessage): boolean {
  const own = [`127.0.0.1:${socket.localPort}`, `localhost:${socket.localPort}`];
  const { host = "", origin } = headers;
  return !own.includes(host) || (origin !== undefined && !own.some((name) => origin === `http://${name}`));
}

/** Node gives names in lower case. */
function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
    ),
  );
}

/** The body, or enough of one that is too big to be refused for it. */
async function bodyOf(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > exchange.bodyBytesMax) break;
  }
  return bytes === 0 ? undefined : Buffer.concat(chunks).toString("utf8");
}
