import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isTaken, take, takenAhead } from "../../lib/core/mail.ts";
import { mailboxFrom, mailOf, signalText } from "../../lib/core/mail-format.ts";
import type { MailCursor } from "../../lib/core/run.ts";

const none: MailCursor = { signals: 0, mask: 0, commands: 0 };

describe("the cursor of the mailbox", () => {
  test("is a set of numbers, in whatever order they are taken within its 32 bits", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.array(fc.nat(60), { maxLength: 80 }), (from, picks) => {
        let cursor: MailCursor = { ...none, signals: from };
        const taken = new Set<number>();
        for (const pick of picks) {
          const seq = from + pick;
          const isInside = seq >= cursor.signals && seq < cursor.signals + 32;
          if (!isInside) {
            if (!isTaken(cursor, seq)) expect(() => take(cursor, seq)).toThrow(RangeError);
            continue;
          }
          cursor = take(cursor, seq);
          taken.add(seq);
          for (let each = from; each < from + 70; each++) expect(isTaken(cursor, each)).toBe(taken.has(each));
          // below the cursor nothing is missing, and at it something is
          expect(isTaken(cursor, cursor.signals)).toBe(false);
          expect(takenAhead(cursor)).toBe([...taken].filter((each) => each > cursor.signals).length);
          expect(cursor.mask).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });

  test("moves over all 32 at once when the head is taken last", () => {
    let cursor = none;
    for (let seq = 31; seq > 0; seq--) cursor = take(cursor, seq);
    expect(cursor).toEqual({ signals: 0, mask: 0xfffffffe, commands: 0 });
    expect(take(cursor, 0)).toEqual({ signals: 32, mask: 0, commands: 0 });
  });

  test("knows nothing taken beyond its mask", () => {
    expect(isTaken({ ...none, mask: 0xffffffff }, 32)).toBe(false);
  });
});

describe("a mailbox", () => {
  const text = signalText({ name: "s", payload: { kind: "value", value: "x".repeat(100) }, atMs: 1 });
  const boxOf = (count: number) =>
    mailboxFrom({
      e: Array.from({ length: count }, () => text),
      b: 5,
      t: 5 + count,
      y: 0,
      ce: [],
      cb: 0,
      ct: 0,
      i: {},
    });

  test("is full with 32 signals that wait, or with as many bytes as leave no room for one more", () => {
    expect(mailOf(boxOf(31), { ...none, signals: 5 }).isFull).toBe(false);
    expect(mailOf(boxOf(32), { ...none, signals: 5 }).isFull).toBe(true);
  });

  test("is not full of what was dealt with and only waits to be trimmed (W7)", () => {
    expect(mailOf(boxOf(32), { ...none, signals: 6 }).isFull).toBe(false);
    expect(mailOf(boxOf(32), { ...none, signals: 37 }).isFull).toBe(false);
  });

  test("that is not there holds nothing", () => {
    expect(mailOf(undefined, none)).toEqual({ signals: [], commands: [], isFull: false });
  });
});
