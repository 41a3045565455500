import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { buildApp } from "fauxqs";
import { account, type Endpoint, listening, region } from "./endpoint.ts";

/** What one request on the wire was: the operation, and how many messages it sent, received or deleted. */
export interface SqsRequest {
  readonly operation: string;
  readonly messages: number;
}

export interface SqsServerOptions {
  /** 0: any free port. */
  readonly port: number;
  /** Where queues, messages and objects are kept (SQLite, written through). Absent: in memory only. */
  readonly folder: string | undefined;
  readonly onRequest: (request: SqsRequest) => void;
}

export interface SqsServer extends Endpoint {
  /** Messages of a queue by its physical name, without a request. */
  depth(name: string): { readonly ready: number; readonly inFlight: number; readonly delayed: number };
  /** Answers every waiting long poll with nothing, so that pollers can leave without a message in their hands. */
  releasePolls(): void;
}

/** The parts of fauxqs that its entry does not export: it would listen on all interfaces, we listen on loopback. */
interface Internals {
  readonly buildApp: typeof buildApp;
  readonly SqsStore: new () => SqsStoreLike;
  readonly SnsStore: new () => object;
  readonly S3Store: new () => object;
  readonly PersistenceManager: new (folder: string) => PersistenceLike;
}
interface SqsStoreLike {
  shutdown(): void;
  readonly queues: Map<string, QueueLike>;
  readonly queuesByName: ReadonlyMap<string, QueueLike>;
  persistence?: PersistenceLike;
  host: string;
}
interface QueueLike {
  readonly name: string;
  readonly messages: readonly unknown[];
  readonly inflightMessages: ReadonlyMap<string, unknown>;
  readonly delayedMessages: readonly unknown[];
  url: string;
  persistence?: PersistenceLike;
}
interface PersistenceLike {
  readonly db: { exec(sql: string): void; prepare(sql: string): { run(...values: unknown[]): unknown } };
  updateMessageReady(messageId: string): void;
  load(sqs: object, sns: object, s3: object): void;
  close(): void;
}

/**
 * SQS and S3 over the real wire protocol, in this process, on loopback. With a folder, messages survive a stop and a kill of the
 * process: ready, delayed and in flight, receive counts included.
 */
export async function startSqsServer({ port, folder, onRequest }: SqsServerOptions): Promise<SqsServer> {
  const { buildApp, SqsStore, SnsStore, S3Store, PersistenceManager } = await quietly(internals);
  const stores = { sqsStore: new SqsStore(), snsStore: new SnsStore(), s3Store: new S3Store() };
  // An empty host makes queue URLs start with what the caller asked for, not with a name that must be resolved.
  stores.sqsStore.host = "";
  const kept = folder === undefined ? undefined : new PersistenceManager(folder);
  if (kept) restore(kept, stores);
  const app = buildApp({ logger: false, defaultRegion: region, stores: stores as never });
  app.addHook("onSend", async (request, _reply, payload) => {
    const operation = String(request.headers["x-amz-target"] ?? "").split(".")[1];
    if (operation) onRequest({ operation, messages: countOf(operation, request.body, payload) });
    return payload;
  });
  // As the last of the hooks: a request that is still running may write.
  if (kept) app.addHook("onClose", async () => kept.close());
  await listening("SQS", port, (at) => app.listen(at));
  const address = app.server.address();
  const taken = typeof address === "object" && address ? address.port : port;
  const url = `http://127.0.0.1:${taken}`;
  // Restored queues still bear the port of the last time.
  const restored = [...stores.sqsStore.queues.values()];
  stores.sqsStore.queues.clear();
  for (const queue of restored) {
    queue.url = `${url}/${account}/${queue.name}`;
    stores.sqsStore.queues.set(queue.url, queue);
  }
  return {
    url,
    port: taken,
    depth: (name) => {
      const queue = stores.sqsStore.queuesByName.get(name);
      return {
        ready: queue?.messages.length ?? 0,
        inFlight: queue?.inflightMessages.size ?? 0,
        delayed: queue?.delayedMessages.length ?? 0,
      };
    },
    releasePolls: () => stores.sqsStore.shutdown(),
    stop: () => app.close(),
  };
}

function restore(kept: PersistenceLike, stores: { sqsStore: SqsStoreLike; snsStore: object; s3Store: object }): void {
  // A killed process loses nothing this way, only a power cut may; FULL would cost an fsync a message.
  kept.db.exec("PRAGMA synchronous = NORMAL");
  // fauxqs 2.4.1 sets the receive count to NULL here, which its own schema refuses: the message would be lost.
  const ready = kept.db.prepare(
    "UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL WHERE message_id = ?",
  );
  kept.updateMessageReady = (messageId) => void ready.run(messageId);
  kept.load(stores.sqsStore, stores.snsStore, stores.s3Store);
  for (const store of Object.values(stores)) (store as { persistence?: PersistenceLike }).persistence = kept;
  for (const queue of stores.sqsStore.queues.values()) queue.persistence = kept;
}

function countOf(operation: string, asked: unknown, answered: unknown): number {
  if (operation === "SendMessage" || operation === "DeleteMessage") return 1;
  const { Entries: entries } = (asked ?? {}) as { Entries?: unknown };
  if (Array.isArray(entries)) return entries.length;
  if (operation !== "ReceiveMessage" || typeof answered !== "string") return 0;
  return (JSON.parse(answered) as { Messages?: unknown[] }).Messages?.length ?? 0;
}

async function internals(): Promise<Internals> {
  const found = findPackageJSON("fauxqs", import.meta.url);
  if (found === undefined) throw new Error("The package fauxqs is not installed: the embedded stack needs it.");
  const load = (file: string) => import(/* @vite-ignore */ pathToFileURL(join(dirname(found), "dist", file)).href);
  const [app, sqs, sns, s3, persistence] = await Promise.all([
    load("app.js"),
    load("sqs/sqsStore.js"),
    load("sns/snsStore.js"),
    load("s3/s3Store.js"),
    load("persistence.js"),
  ]);
  return { ...app, ...sqs, ...sns, ...s3, ...persistence };
}

/** Without the warning that Node's SQLite is experimental: it is for us to read, not for whoever starts a stack. */
async function quietly<T>(load: () => Promise<T>): Promise<T> {
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    if (!String(warning).includes("SQLite")) emitWarning(warning, ...rest);
  }) as typeof emitWarning;
  try {
    return await load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
