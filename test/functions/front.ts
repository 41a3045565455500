import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A request of a function, on its way to a service. `operation` is empty for S3. */
export interface Asked {
  readonly service: "dynamodb" | "sqs" | "s3";
  readonly operation: string;
  readonly body: string;
}

/** What is done with a request instead of passing it on. Waiting before the answer holds the request up. */
export type Fault = { readonly status: number; readonly name: string } | "hang-up" | undefined;

export interface Front {
  readonly url: string;
  /** Everything that was asked for, in order. */
  readonly asked: readonly Asked[];
  /** Called for every request; passes it on when it gives nothing. */
  around: (asked: Asked) => Fault | Promise<Fault>;
  stop(): Promise<void>;
}

/**
 * One address for all services, as an emulator has: functions know no other way to be told where the services are. It stands between the
 * functions and the servers, so a test can count, hold up, refuse or break what they ask for.
 */
export async function startFront(to: { readonly dynamodb: string; readonly sqs: string }): Promise<Front> {
  const asked: Asked[] = [];
  const server = createServer((incoming, outgoing) => void relay(incoming, outgoing));
  const front: Front = {
    get url() {
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    asked,
    around: () => undefined,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function relay(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const [target = "", operation = ""] = String(incoming.headers["x-amz-target"] ?? "").split(".");
    const service = target.startsWith("DynamoDB") ? "dynamodb" : target.startsWith("AmazonSQS") ? "sqs" : "s3";
    const body = await text(incoming);
    asked.push({ service, operation, body });
    const fault = await front.around({ service, operation, body });
    if (fault === "hang-up") return void outgoing.destroy();
    if (fault) {
      outgoing.writeHead(fault.status, { "content-type": "application/x-amz-json-1.0" });
      outgoing.end(JSON.stringify({ __type: `com.amazonaws#${fault.name}`, message: "as the test asked for" }));
      return;
    }
    const { hostname, port } = new URL(service === "dynamodb" ? to.dynamodb : to.sqs);
    const { method, headers, url: path } = incoming;
    const onward = request({ hostname, port, path, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    onward.end(body);
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return front;
}
