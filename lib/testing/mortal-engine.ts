import type { Registry } from "../core/registry.ts";
import type { Engine } from "../engine/engine.ts";
import { forever } from "./fault-hooks.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** One invocation of a function, which may die while its neighbours live on. */
export interface Life {
  readonly isDead: boolean;
  die(): Promise<never>;
}

/** Where an invocation dies by itself: before or after one of its writes. */
export interface Death {
  readonly write: number;
  readonly isAfter: boolean;
}

/** One of the first writes of an invocation, or none, by chance. */
export function drawDeath(random: SeededRandom, rate: number): Death | undefined {
  if (!random.chance(rate)) return undefined;
  return { write: random.integer(3), isAfter: random.chance(0.5) };
}

/**
 * The engine as one invocation has it: from its death on nothing that it does reaches the outside, and nothing answers it.
 * `registryFor` binds what the registry hands out to this life.
 */
export function mortalEngine(engine: Engine, death: Death | undefined, registryFor: (life: Life) => Registry): Engine {
  let isDead = false;
  let writes = 0;
  const life: Life = {
    get isDead() {
      return isDead;
    },
    die() {
      isDead = true;
      return forever();
    },
  };
  const alive = async <T>(call: () => Promise<T>): Promise<T> => {
    if (isDead) return forever();
    const answer = await call();
    return isDead ? forever() : answer;
  };
  const { store, queue, payloads, events } = engine;
  return {
    ...engine,
    registry: registryFor(life),
    store: {
      read: (...args) => alive(() => store.read(...args)),
      list: (...args) => alive(() => store.list(...args)),
      find: (...args) => alive(() => store.find(...args)),
      write: (...args) =>
        alive(async () => {
          const isLast = death !== undefined && writes++ === death.write;
          if (isLast && !death.isAfter) return life.die();
          const written = await store.write(...args);
          return isLast ? life.die() : written;
        }),
    },
    queue: {
      send: (...args) => alive(() => queue.send(...args)),
      isBehind: (...args) => alive(() => queue.isBehind(...args)),
    },
    events: events && { send: (...args) => alive(() => events.send(...args)) },
    payloads: {
      put: (...args) => alive(() => payloads.put(...args)),
      get: (...args) => alive(() => payloads.get(...args)),
      remove: (...args) => alive(() => payloads.remove(...args)),
    },
  };
}
