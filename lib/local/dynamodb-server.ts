import type { Server, ServerResponse } from "node:http";
import dynalite from "dynalite";
import { type Endpoint, listeningAt } from "./endpoint.ts";

/** What one request on the wire was, and what it cost if the client asked for that. */
export interface DynamodbRequest {
  readonly operation: string;
  /** A condition that was false: the price of optimistic concurrency, not an error. */
  readonly isRefused: boolean;
  /** Capacity units, size-true; 0 unless the client sent `ReturnConsumedCapacity`. */
  readonly capacityUnits: number;
}

export interface DynamodbServerOptions {
  /** 0: any free port. */
  readonly port: number;
  /** Where the tables are kept (LevelDB). Absent: in memory only. */
  readonly folder: string | undefined;
  readonly onRequest: (request: DynamodbRequest) => void;
}

/** DynamoDB over the real wire protocol, in this process, on loopback. No transactions, no streams, no TTL deletions. */
export async function startDynamodbServer({ port, folder, onRequest }: DynamodbServerOptions): Promise<Endpoint> {
  const server: Server = dynalite({
    ...(folder === undefined ? {} : { path: folder }),
    createTableMs: 0,
    updateTableMs: 0,
    deleteTableMs: 0,
  });
  server.prependListener("request", (request, response) => {
    const operation = String(request.headers["x-amz-target"] ?? "").split(".")[1];
    if (operation) metered(response, (answer) => onRequest({ operation, ...answer }));
    // dynalite's own listener throws when a client drops its connection while sending; such a request is simply gone.
    queueMicrotask(() => request.removeAllListeners("error"));
  });
  return { ...(await listeningAt("DynamoDB", server, port)), stop: () => stopped(server) };
}

function metered(
  response: ServerResponse,
  report: (answer: { readonly isRefused: boolean; readonly capacityUnits: number }) => void,
): void {
  const end = response.end.bind(response) as (...rest: unknown[]) => ServerResponse;
  response.end = ((...rest: unknown[]) => {
    const body = typeof rest[0] === "string" ? rest[0] : "";
    report({
      isRefused: response.statusCode === 400 && body.includes("#ConditionalCheckFailedException"),
      capacityUnits: Number(/"ConsumedCapacity":\{"CapacityUnits":([0-9.]+)/.exec(body)?.[1] ?? 0),
    });
    return end(...rest);
  }) as ServerResponse["end"];
}

function stopped(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
    server.closeIdleConnections();
  });
}
