import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Message, Queue } from "../../lib/ports.ts";

/** A received message, and what its consumer may do with it. */
export interface Taken {
  readonly body: string;
  readonly taskKey: string | undefined;
  readonly reason: string | undefined;
  readonly receiveCount: number;
  ack(): Promise<void>;
  release(): Promise<void>;
}

/** The queues `wake:standard`, `watch`, `task:default` and `task:Other.group`, redriven after two receives. */
export interface OpenQueue {
  readonly queue: Queue;
  /** At most ten; without waiting, unless one is expected. */
  receive(queue: string, isExpected?: boolean): Promise<readonly Taken[]>;
  wait(ms: number): Promise<void>;
  /** A known lie: a message whose delay or visibility is over is not counted until the next receive. */
  readonly isCountedLate?: true;
  /** How long a count may take to be true: the real service counts approximately. At once unless given. */
  readonly countsWithinMs?: number;
  close(): Promise<void>;
}

export const contractQueues = ["wake:standard", "watch", "task:default", "task:Other.group"] as const;

const message = (queue: string, body: string, more: Partial<Message> = {}): Message => ({
  queue,
  body,
  group: "tenant",
  taskKey: `key-of-${body}`,
  ...more,
});

/** What every `Queue` does. */
export function queueContract(name: string, open: () => Promise<OpenQueue>): void {
  describe(`${name} as a queue`, () => {
    let opened: OpenQueue;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());

    /** Everything that is there, acknowledged. */
    const drain = async (queue: string): Promise<readonly Taken[]> => {
      const all: Taken[] = [];
      for (;;) {
        const some = await opened.receive(queue, true);
        if (some.length === 0) return all;
        for (const one of some) await one.ack();
        all.push(...some);
      }
    };

    test("brings body, task key and reason to the queue that each names", async () => {
      const sent = await opened.queue.send([
        message("wake:standard", "a", { reason: "unreadable: ✗" }),
        message("task:Other.group", "b"),
        message("wake:standard", "c"),
      ]);
      expect(sent).toEqual([{ kind: "sent" }, { kind: "sent" }, { kind: "sent" }]);
      const wakes = (await drain("wake:standard")).toSorted((a, b) => (a.body < b.body ? -1 : 1));
      expect(wakes).toMatchObject([
        { body: "a", taskKey: "key-of-a", reason: "unreadable: ✗", receiveCount: 1 },
        { body: "c", taskKey: "key-of-c", reason: undefined },
      ]);
      expect(await drain("task:Other.group")).toMatchObject([{ body: "b" }]);
    });

    test("takes more messages than one request does, and nothing at all (Q4)", async () => {
      const bodies = Array.from({ length: 25 }, (_, index) => `m${index}`);
      const sent = await opened.queue.send(bodies.map((body) => message("wake:standard", body)));
      expect(sent.every(({ kind }) => kind === "sent")).toBe(true);
      expect((await drain("wake:standard")).map(({ body }) => body).toSorted()).toEqual(bodies.toSorted());
      expect(await opened.queue.send([])).toEqual([]);
    });

    test("takes more bytes than one request does (Q4)", async () => {
      const sent = await opened.queue.send(
        ["x", "y", "z"].map((letter) => message("wake:standard", letter.repeat(200_000), { taskKey: letter })),
      );
      expect(sent.every(({ kind }) => kind === "sent")).toBe(true);
      expect((await drain("wake:standard")).map(({ taskKey }) => taskKey).toSorted()).toEqual(["x", "y", "z"]);
    });

    test("reports what it refuses in its place, and sends its neighbours (Q3)", async () => {
      const sent = await opened.queue.send([
        message("watch", "a"),
        message("watch", ""),
        message("watch", "x".repeat(1_100_000)),
        message("watch", "d", { delaySeconds: Number.NaN }),
        message("watch", "e", { delaySeconds: -5, group: "a tenant's name that is no id ".repeat(9) }),
      ]);
      const refused = { kind: "failed", fault: { code: "refused" } };
      expect(sent).toMatchObject([{ kind: "sent" }, refused, refused, refused, { kind: "sent" }]);
      expect((await drain("watch")).map(({ body }) => body).toSorted()).toEqual(["a", "e"]);
    });

    test("delays by whole seconds, never less than asked for (Q1)", async () => {
      await opened.queue.send([message("watch", "later", { delaySeconds: 0.2 })]);
      expect(await opened.receive("watch")).toEqual([]);
      await opened.wait(1200);
      expect(await drain("watch")).toMatchObject([{ body: "later" }]);
    });

    test("is behind while somebody could receive and nobody has", async () => {
      const isBehind = async (expected: boolean) => {
        const endsAtMs = performance.now() + (opened.countsWithinMs ?? 0);
        while ((await opened.queue.isBehind("watch")) !== expected && performance.now() < endsAtMs)
          await opened.wait(500);
        expect(await opened.queue.isBehind("watch")).toBe(expected);
      };
      await isBehind(false);
      await opened.queue.send([message("watch", "delayed", { delaySeconds: 1 })]);
      await isBehind(false);
      await opened.queue.send([message("watch", "now")]);
      await isBehind(true);
      const taken = await opened.receive("watch", true);
      if (opened.countsWithinMs === undefined) await isBehind(false);
      await Promise.all(taken.map((each) => each.ack()));
      await opened.wait(1200);
      if (opened.countsWithinMs === undefined) await isBehind(opened.isCountedLate !== true);
      await drain("watch");
    });

    test.each([
      ["wake:standard", "dead"],
      ["task:default", "dead-task"],
    ])("what %s showed twice in vain goes to %s (Q9)", async (queue, dead) => {
      await opened.queue.send([message(queue, "poison")]);
      for (const receiveCount of [1, 2]) {
        const [taken] = await opened.receive(queue, true);
        expect(taken).toMatchObject({ body: "poison", receiveCount });
        await taken?.release();
      }
      expect(await opened.receive(queue)).toEqual([]);
      expect(await drain(dead)).toMatchObject([{ body: "poison", taskKey: "key-of-poison" }]);
    });

    test("a hidden message shows again", async () => {
      await opened.queue.send([message("wake:standard", "again")]);
      expect(await opened.receive("wake:standard", true)).toHaveLength(1);
      expect(await opened.receive("wake:standard")).toEqual([]);
      await opened.wait(2200);
      expect(await drain("wake:standard")).toMatchObject([{ body: "again", receiveCount: 2 }]);
    });
  });
}
