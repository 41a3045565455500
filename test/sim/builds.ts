import type { Definition } from "../../lib/core/definition.ts";
import type { Json } from "../../lib/core/json.ts";
import type { Program } from "../../lib/core/program.ts";
import type { Registry } from "../../lib/core/registry.ts";
import { rowAttributes } from "../../lib/core/row-format.ts";
import type { Fields, Key, Message, Write } from "../../lib/ports.ts";
import type { SeededRandom } from "../../lib/testing/seeded-random.ts";
import { rawHandler, rawRegistry } from "../engine/raw.ts";
import { handlersFor } from "./handlers.ts";
import type { Process } from "./process.ts";
import type { World } from "./world.ts";

/** A deployed version of the code: what it can run, and the format that it writes. */
export interface Build {
  readonly name: string;
  readonly isAhead: boolean;
  readonly programs: Map<string, Program>;
  readonly stored: Set<string>;
  registryFor(process: Process): Registry;
  /** Between its code, which knows one format, and the table: a build ahead writes, and reads, the next one as well. */
  outgoing(write: Write): Write;
  incoming(key: Key, fields: Fields): Fields;
  outgoingMessage(message: Message): Message;
  incomingBody(body: string): string;
}

export interface BuildOptions {
  readonly name: string;
  readonly definitions: readonly Definition[];
  /** Handlers that this build does not have. */
  readonly without: readonly string[];
  /** Definitions of runs in flight whose signals it takes, although it may wait for them nowhere any more. */
  readonly keeping?: readonly Definition[];
  /** Writes rows and messages in a format that other builds do not know. */
  readonly isAhead: boolean;
}

const format = rowAttributes.format;

export function createBuild(world: World, options: BuildOptions): Build {
  const { isAhead } = options;
  const registry = rawRegistry(options.definitions);
  const kept = (options.keeping ?? []).flatMap(({ nodes }) => nodes);
  const keptSignals = new Map(
    kept.flatMap((def) => (def.kind === "signal" ? [[def.signal, async (raw: unknown) => raw as Json]] : [])),
  );
  const withFormat = (fields: Fields, from: number, to: number): Fields =>
    isAhead && fields[format] === from ? { ...fields, [format]: to } : fields;
  return {
    name: options.name,
    isAhead,
    programs: new Map(),
    stored: new Set(),
    registryFor(process) {
      const handlers = handlersFor(world, process, options.without);
      return { ...registry, keptSignals, handler: (ref) => rawHandler(ref, handlers[ref]) };
    },
    outgoing: (write) =>
      write.kind === "put" && write.key.sk === "STATE" ? { ...write, fields: withFormat(write.fields, 1, 2) } : write,
    incoming: (key, fields) => (key.sk === "STATE" ? withFormat(fields, 2, 1) : fields),
    outgoingMessage: (message) =>
      isAhead ? { ...message, body: message.body.replace('{"format":1', '{"format":2') } : message,
    incomingBody: (body) => (isAhead ? body.replace('{"format":2', '{"format":1') : body),
  };
}

/** Which builds are deployed: while one is rolled out, processes are of either. */
export interface Rollout {
  /** The newest, and what the next deploy replaces. */
  readonly current: Build;
  /** A process begins: of which build is it? */
  pick(random: SeededRandom): Build;
  deploy(build: Build, rolledOutMs: number): void;
  named(name: string): Build;
}

export function createRollout(first: Build, nowMs: () => number): Rollout {
  let [previous, current] = [first, first];
  let overAtMs = 0;
  const all = new Map([[first.name, first]]);
  return {
    get current() {
      return current;
    },
    pick: (random) => (random.chance(0.5) && nowMs() < overAtMs ? previous : current),
    deploy(build, rolledOutMs) {
      [previous, current] = [current, build];
      all.set(build.name, build);
      overAtMs = nowMs() + rolledOutMs;
    },
    named: (name) => all.get(name) ?? first,
  };
}
