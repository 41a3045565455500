import type { Received } from "../ports/received.ts";
import type { Engine } from "./engine.ts";

/**
 * An engine whose messages go on in the trace in which this one came: a batch holds many runs, so the trace of the function is
 * nobody's. Without one, messages are sent as they are.
 */
export function tracing(engine: Engine, received: Pick<Received, "trace"> | undefined): Engine {
  const trace = received?.trace;
  if (trace === undefined) return engine;
  const { queue } = engine;
  return {
    ...engine,
    queue: { ...queue, send: (messages) => queue.send(messages.map((message) => ({ ...message, trace }))) },
  };
}
