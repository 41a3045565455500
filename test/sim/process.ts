import { Fault } from "../../lib/core/faults.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import type { Key, Message, Sent, Write, Written } from "../../lib/ports.ts";
import { forever } from "../../lib/testing/fault-hooks.ts";
import type { SeededRandom } from "../../lib/testing/seeded-random.ts";
import type { FaultKind } from "./faults.ts";
import type { World } from "./world.ts";

/** One process: an invocation of a function, or a call to the api. It may die at any of its awaits, and what comes after never is. */
export interface Process {
  /** What it is and does; the same in every replay. */
  readonly name: string;
  readonly build: string;
  readonly beganAtMs: number;
  /** The production engine over this process's own clock, randomness and unreliable ports. */
  readonly engine: Engine;
  readonly random: SeededRandom;
  readonly isDead: boolean;
  /** Held up beyond its function's time-out at least once, and alive. */
  readonly isZombie: boolean;
  die(why: string): Promise<never>;
  /** Records of which some write by it was refused by the platform, or not answered. */
  readonly troubles: ReadonlySet<string>;
  /** Whether a fault comes here; noted among the choices if it does. */
  suffers(kind: FaultKind, where: string): boolean;
}

const noAnswer: Written = { kind: "unclear", fault: new Fault("unavailable", "no answer").data };
const notTaken: Sent = { kind: "failed", fault: new Fault("unavailable", "not accepted").data };

/** Makes a process of a build. `onDeath` is told once. */
export function createProcess(world: World, place: string, onDeath: (why: string) => void): Process {
  const { timeline, choices, weather } = world;
  const name = choices.named(place);
  const random = choices.random(name);
  const build = world.builds.pick(random);
  const skewMs = Math.round((random.fraction() * 2 - 1) * world.profile.skewMs);
  let stepMs = 0;
  let calls = 0;
  let isDead = false;

  /** Draws at every place as many numbers, whether or not something happens: what comes later does not change. */
  function suffers(kind: FaultKind, where: string): boolean {
    const isDrawn = random.fraction() < weather.rate(kind);
    const happens = isDrawn && choices.takes(`${kind} ${where} ${name}`, true);
    if (happens) world.noteFault(kind, `${where} ${name}`);
    return happens;
  }

  const troubles = new Set<string>();
  const troubled = (key: Key) => {
    troubles.add(nameOf(key));
    world.troubles.add(nameOf(key));
  };
  const process: Process = {
    name,
    beganAtMs: timeline.nowMs(),
    troubles,
    build: build.name,
    random,
    get isDead() {
      return isDead;
    },
    isZombie: suffers("zombie", "it"),
    die(why) {
      if (!isDead) {
        isDead = true;
        world.trace(() => `${name} dies: ${why}`);
        onDeath(why);
      }
      return forever();
    },
    suffers,
    engine: undefined as never,
  };
  const stepsAt = suffers("step-clock", "its") ? 1 + random.integer(12) : 0;
  const stepsBy = Math.round((random.fraction() * 2 - 1) * Math.max(1, world.profile.skewMs - Math.abs(skewMs)));

  /** One call to the outside: time passes, the call is made, time passes, the answer is there. */
  async function call<T>(where: string, make: () => Promise<T>, refuse?: (fault: Fault) => T): Promise<T> {
    if (isDead) return forever();
    calls += 1;
    if (calls === stepsAt) stepMs = stepsBy;
    const site = `${where} #${calls}`;
    const [before, after] = [suffers("crash-before", site), suffers("crash-after", site)];
    const [isThrottled, isDenied] = [suffers("throttle", site), suffers("deny", site)];
    const [stall, stallMs] = [suffers("stall", site), 20_000 + random.integer(40 * 60_000)];
    const [isLate, beforeMs, afterMs] = [random.chance(0.5), latencyMs(random), latencyMs(random)];
    await timeline.sleep(beforeMs + (stall && isLate ? stallMs : 0));
    if (isDead) return forever();
    if (before) return process.die(`before ${where}`);
    if (isThrottled || isDenied) {
      const fault = new Fault(isDenied ? "denied" : "throttled", `${where} was refused`);
      if (refuse) return refuse(fault);
      throw fault;
    }
    world.trace(() => `${name}: ${where}`);
    const answer = await make();
    if (after) return process.die(`after ${where}`);
    const waitMs = (random.chance(0.5) ? afterMs : 0) + (stall && !isLate ? stallMs : 0);
    if (waitMs > 0) await timeline.sleep(waitMs);
    return isDead ? forever() : answer;
  }

  async function write(asked: Write, options: Parameters<Engine["store"]["write"]>[1]): Promise<Written> {
    const where = `write ${nameOf(asked.key)}`;
    const site = `${where} #${calls + 1}`;
    const [isUnsent, isUnheard, isRepeated] = [
      suffers("lose-request", site),
      suffers("lose-reply", site),
      suffers("repeat", site),
    ];
    const pauseMs = random.integer(3000);
    const readable = (written: Written): Written =>
      "now" in written && written.now ? { ...written, now: build.incoming(asked.key, written.now) } : written;
    const once = async (): Promise<Written> => {
      const form = build.outgoing(asked);
      const fate = world.plagues.fateOf(asked);
      if (fate === "deadly") return await killed(asked.key.pk);
      if (fate === "refused") throw new Fault("throttled", `${where} was refused`);
      if (fate === "overtaken" || fate === "moved") await world.overtake(asked.key.pk, fate === "moved");
      if (isUnsent || fate === "unanswered") return noAnswer;
      const first = await world.write(process, form, options);
      if (fate === "fatal") return await killed(asked.key.pk);
      if (isUnheard) return noAnswer;
      if (!isRepeated) return readable(first);
      await timeline.sleep(pauseMs);
      if (isDead) return forever();
      return { ...readable(await world.write(process, form, options)), isClear: false } as Written;
    };
    try {
      const written = await call(where, once);
      if (written.kind === "unclear") troubled(asked.key);
      return written;
    } catch (error) {
      troubled(asked.key);
      throw error;
    }
  }

  function killed(pk: string): Promise<never> {
    const dead = process.die(`killed by ${pk}`);
    for (const listener of world.plagues.onKilled) listener(process, pk);
    return dead;
  }

  /** Some of a batch may be refused; a reply may be lost although all were taken; a silent repeat doubles them. */
  async function send(messages: readonly Message[]): Promise<readonly Sent[]> {
    const where = `send ${[...new Set(messages.map(({ queue }) => queue))].join(",")}`;
    const refused = messages.map((each) => suffers("fail-message", `${each.taskKey} #${calls + 1}`));
    const isUnheard = suffers("lose-reply", `${where} #${calls + 1}`);
    return await call(
      where,
      async () => {
        if (world.plagues.isQueueDown) return messages.map(() => notTaken);
        const taken = messages.filter((_, at) => !refused[at]);
        const sent = await world.send(process, taken.map(build.outgoingMessage));
        let next = 0;
        const answers = messages.map((_, at) => (refused[at] ? notTaken : (sent[next++] ?? notTaken)));
        return isUnheard ? messages.map(() => notTaken) : answers;
      },
      (fault) => messages.map(() => ({ kind: "failed", fault: fault.data })),
    );
  }

  const { store, payloads, queue } = world;
  const engine: Engine = {
    store: {
      read: (keys, options) =>
        call(`read ${nameOf(keys[0])}`, async () =>
          (await store.read(keys, options)).map((fields, at) => fields && build.incoming(keys[at] as Key, fields)),
        ),
      list: (from) =>
        call(`list ${from.prefix}`, async () => {
          const page = await store.list(from);
          return {
            ...page,
            items: page.items.map((item) => ({ ...build.incoming(item, item), pk: item.pk, sk: item.sk })),
          };
        }),
      find: (index, query) => call(`find ${query.partition}`, () => store.find(index, query)),
      write,
    },
    queue: { send, isBehind: (name) => call(`look at ${name}`, () => queue.isBehind(name)) },
    payloads: {
      put: (...args) => call("put payload", () => payloads.put(...args)),
      get: (...args) => call("get payload", () => payloads.get(...args)),
      remove: (...args) => call("remove payloads", () => payloads.remove(...args)),
    },
    clock: { nowMs: () => timeline.nowMs() + skewMs + stepMs, sleep: (delayMs, signal) => sleep(delayMs, signal) },
    random: { fraction: random.fraction, token: random.token },
    log: { write: (level, event, fields) => void (!isDead && world.log(level, event, fields)) },
    metrics: {
      count: (metric, value = 1) => void (!isDead && world.count(`metric:${metric}`, value)),
      flush: async () => undefined,
    },
    limits: world.limits,
    build: build.name,
    registry: build.registryFor(process),
    programs: build.programs,
    stored: build.stored,
  };

  function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const cancel = timeline.at(timeline.nowMs() + Math.max(0, delayMs), () => void (!isDead && resolve()));
      signal?.addEventListener(
        "abort",
        () => {
          cancel();
          reject(signal.reason);
        },
        { once: true },
      );
    });
  }

  return Object.assign(process, { engine });
}

/** Mostly a few milliseconds, now and then seconds. */
function latencyMs(random: SeededRandom): number {
  const fraction = random.fraction();
  return fraction > 0.98 ? 500 + Math.round(fraction * 3000) : 1 + Math.round(fraction * 15);
}

const nameOf = (key: Key | undefined) => (key ? `${key.pk} ${key.sk}` : "nothing");
