import { AsyncLocalStorage } from "node:async_hooks";

/** Never settles: what a process that is gone would answer. */
const never = (): Promise<never> => new Promise(() => {});

/**
 * Lets one invocation die while its neighbours in the same process live on, as a function's own process would in AWS: from `die`
 * on, nothing that it does reaches the outside any more, and nothing answers it.
 */
export interface Mortality {
  /** A function whose invocations can die one by one. */
  invocation<Args extends readonly unknown[], Result>(
    run: (...args: Args) => Promise<Result>,
  ): (...args: Args) => Promise<Result>;
  /** Ends the invocation that calls it. Never settles. Outside of an invocation it does nothing else. */
  die(): Promise<never>;
  /** A port whose calls reach the outside only from the living. Every member must be an asynchronous function. */
  guarded<Port extends object>(port: Port): Port;
}

export function createMortality(): Mortality {
  const current = new AsyncLocalStorage<{ isDead: boolean }>();
  return {
    invocation:
      (run) =>
      (...args) =>
        current.run({ isDead: false }, () => run(...args)),
    die() {
      const life = current.getStore();
      if (life) life.isDead = true;
      return never();
    },
    guarded: (port) =>
      new Proxy(port, {
        get(target, name, receiver) {
          const member: unknown = Reflect.get(target, name, receiver);
          if (typeof member !== "function") return member;
          return async (...args: unknown[]) => {
            if (current.getStore()?.isDead) return await never();
            const answer: unknown = await Reflect.apply(member, target, args);
            return current.getStore()?.isDead ? await never() : answer;
          };
        },
      }),
  };
}
