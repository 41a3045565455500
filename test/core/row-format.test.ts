import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { attemptFrom, factBytes, factsFrom, outcomeFields } from "../../lib/core/attempt-format.ts";
import { ByteReader, ByteWriter } from "../../lib/core/bytes.ts";
import { Fault } from "../../lib/core/faults.ts";
import type { Outcome } from "../../lib/core/inputs.ts";
import { rowAttributes as a, decodeRun, encodeRun, type Row } from "../../lib/core/row-format.ts";
import { isLive, type Run, statusOf } from "../../lib/core/run.ts";
import { arbitraryRun, factValue } from "./arbitrary-run.ts";
import { freshRun, programWith, stepNode } from "./fixture.ts";

const keyOf = (run: Run) => ({ pk: `${run.tenant}#${run.runId}` });
const sample = () => freshRun(programWith([stepNode("a")]));
const codeOf = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    return Fault.is(error) ? error.code : String(error);
  }
  return "none";
};

describe("a row", () => {
  test("gives back the run that was written, whatever is in it", () => {
    fc.assert(
      fc.property(arbitraryRun, (run) => {
        expect(decodeRun(keyOf(run), encodeRun(run))).toEqual(run);
      }),
      { numRuns: 300 },
    );
  });

  test("has the mark of a live run exactly while it is live, and says its status in a word", () => {
    fc.assert(
      fc.property(arbitraryRun, (run) => {
        const row = encodeRun(run);
        expect(row[a.live] !== undefined).toBe(isLive(run));
        expect(row[a.status]).toBe(statusOf(run));
      }),
      { numRuns: 100 },
    );
  });

  test("tells its transition and version without being decoded", () => {
    const run = { ...sample(), transitionSeq: 41, recordVersion: 7 };
    expect(encodeRun(run)).toMatchObject({ [a.transitionSeq]: 41, [a.recordVersion]: 7 });
  });

  test("is bad-row if any byte of what a commit sets is another", () => {
    const names = [a.runUid, a.transitionSeq, a.status, a.hashes, a.body, a.runsPartition, a.createdAtMs, a.checksum];
    fc.assert(
      fc.property(
        arbitraryRun,
        fc.constantFrom(...names),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (run, name, at, by) => {
          const row = encodeRun(run);
          expect(codeOf(() => decodeRun(keyOf(run), { ...row, [name]: damaged(row[name]!, at, by) }))).toBe("bad-row");
        },
      ),
      { numRuns: 200 },
    );
  });

  test("is bad-row if an attribute is missing or of another type", () => {
    const row = encodeRun(sample());
    for (const name of Object.keys(row)) {
      const { [name]: _, ...without } = row;
      const isFree = [a.live, a.duePartition, a.dueAtMs].some((each) => each === name);
      if (!isFree)
        expect(
          codeOf(() => decodeRun(keyOf(sample()), without)),
          name,
        ).toBe("bad-row");
    }
    expect(codeOf(() => decodeRun(keyOf(sample()), {}))).toBe("bad-row");
    expect(codeOf(() => decodeRun(keyOf(sample()), { ...row, [a.body]: "text" }))).toBe("bad-row");
  });

  test("of a later version is newer-format, whatever else is in it", () => {
    expect(codeOf(() => decodeRun(keyOf(sample()), { [a.format]: 2, anything: "else" }))).toBe("newer-format");
  });

  test("leaves what the store counts up, and what settling changes, out of its checksum", () => {
    const row: Row = { ...encodeRun(sample()), [a.recordVersion]: 99, [a.duePartition]: "D03", [a.dueAtMs]: 5 };
    expect(decodeRun(keyOf(sample()), row)).toMatchObject({ recordVersion: 99, due: { kind: "at", atMs: 5 } });
  });
});

describe("an attempt's record", () => {
  const outcomes: fc.Arbitrary<Outcome> = fc.oneof(
    fc
      .array(fc.tuple(fc.integer({ min: 0, max: 500 }), factValue), { maxLength: 10 })
      .map((all) => ({ kind: "ok" as const, facts: new Map([...new Map(all)].sort(([x], [y]) => x - y)) })),
    fc.record({
      kind: fc.constant("failed" as const),
      fault: fc.record({ code: fc.constantFrom("handler-failed", "fatal", "bad-output"), message: fc.string() }),
    }),
    fc.record({ kind: fc.constant("lost" as const), isUnclaimed: fc.boolean() }),
    fc.constantFrom({ kind: "timed-out" as const }, { kind: "never-claimed" as const }, { kind: "cancelled" as const }),
    fc.record({ approved: fc.boolean(), by: fc.string() }).map((decision) => ({ kind: "decided" as const, decision })),
  );

  test("gives its end back", () => {
    fc.assert(
      fc.property(outcomes, (outcome) => {
        const name = { node: 1, index: 2, attempt: 3 };
        expect(attemptFrom(name, outcomeFields(outcome))).toEqual({ ...name, outcome });
      }),
    );
  });

  test("gives facts back byte for byte", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(3000), factValue)), (all) => {
        const facts = new Map(all);
        expect(factsFrom(factBytes(facts))).toEqual(new Map([...facts].sort(([x], [y]) => x - y)));
      }),
    );
  });
});

describe("bytes", () => {
  test("carry every whole number that a double holds, and every double", () => {
    fc.assert(
      fc.property(
        fc.maxSafeNat(),
        fc.integer({ min: -(2 ** 51), max: 2 ** 51 }),
        fc.double(),
        fc.string(),
        (u, i, d, t) => {
          const out = new ByteWriter();
          out.uint(u);
          out.int(i);
          out.double(d);
          out.text(t);
          const input = new ByteReader(out.done());
          expect([input.uint(), input.int(), input.double(), input.text()]).toEqual([
            u,
            i === 0 ? 0 : i,
            d,
            t.toWellFormed(),
          ]);
          expect(input.isAtEnd).toBe(true);
          expect(() => input.byte()).toThrow(RangeError);
        },
      ),
    );
  });

  test("refuse what is no unsigned whole number", () => {
    for (const value of [-1, 0.5, 2 ** 53, Number.NaN]) expect(() => new ByteWriter().uint(value)).toThrow(RangeError);
  });
});

function damaged(value: string | number | Uint8Array, at: number, by: number): string | number | Uint8Array {
  if (typeof value === "number") return value + by;
  if (typeof value === "string") return `${value}${String.fromCharCode(64 + (by % 26))}`;
  const bytes = value.slice();
  bytes[at % bytes.length] = (bytes[at % bytes.length]! + by) % 256;
  return bytes;
}
