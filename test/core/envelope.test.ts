import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { attemptNameFrom, attemptNameFromSk } from "../../lib/core/attempt-format.ts";
import { type Envelope, envelopeFrom, envelopeText, whys } from "../../lib/core/envelope.ts";
import { Fault } from "../../lib/core/faults.ts";
import {
  attemptName,
  definitionKey,
  duePartition,
  isId,
  neighbourPrefixes,
  partitionOf,
  runsPartition,
  sk,
} from "../../lib/core/keys.ts";

const id = fc.stringMatching(/^[A-Za-z0-9._-]{1,64}$/);

describe("an envelope", () => {
  const envelopes: fc.Arbitrary<Envelope> = fc
    .record({
      tenant: id,
      runId: id,
      hints: fc.array(fc.constantFrom("mail", "1/2/3")),
      isAll: fc.boolean(),
      why: fc.constantFrom(...whys),
      requeues: fc.nat(20),
      seq: fc.nat(),
      runUid: fc.option(fc.constant("0123456789abcdef"), { nil: undefined }),
      firstAtMs: fc.option(fc.nat(), { nil: undefined }),
      sk: fc.option(fc.constant("STATE"), { nil: undefined }),
      task: fc.option(
        fc.record({
          node: fc.nat(999),
          index: fc.nat(999_999),
          attempt: fc.integer({ min: 1, max: 103 }),
          sends: fc.nat(255),
        }),
        { nil: undefined },
      ),
    })
    .map(({ seq, runUid, firstAtMs, sk: key, task, ...rest }) => ({
      ...rest,
      requeuesAtSeq: rest.requeues > 0 ? seq : 0,
      ...(runUid !== undefined && { runUid }),
      ...(firstAtMs !== undefined && { firstAtMs }),
      ...(key !== undefined && { sk: key }),
      ...(task && { task }),
    }));

  test("is read as it was written", () => {
    fc.assert(
      fc.property(envelopes, (envelope) => {
        expect(envelopeFrom(envelopeText(envelope))).toEqual(envelope);
      }),
    );
  });

  test("stays far below what a message may hold, with the longest names (Q4)", () => {
    const long = "x".repeat(64);
    const text = envelopeText({
      tenant: long,
      runId: long,
      runUid: "0123456789abcdef",
      hints: Array.from({ length: 10 }, () => "999/999999/103"),
      isAll: true,
      why: "watchdog",
      requeues: 12,
      requeuesAtSeq: 1e9,
      firstAtMs: 1.8e12,
      sk: "STATE#STRIKES#01234567",
      task: { node: 999, index: 999_999, attempt: 103, sends: 255 },
    });
    expect(text.length).toBeLessThan(1024);
  });

  test("written by hand needs a run id only, and means: look at everything", () => {
    expect(envelopeFrom('{"runId":"order-1"}')).toEqual({
      tenant: "default",
      runId: "order-1",
      hints: [],
      isAll: false,
      why: "hand",
      requeues: 0,
      requeuesAtSeq: 0,
    });
  });

  test("ignores what a next version may add", () => {
    expect(envelopeFrom('{"format":1,"runId":"a","why":"dream","extra":{}}')).toMatchObject({
      runId: "a",
      why: "hand",
    });
  });

  test.each([
    ["", "bad-envelope"],
    ["{", "bad-envelope"],
    ["null", "bad-envelope"],
    ["[]", "bad-envelope"],
    ['"text"', "bad-envelope"],
    ["42", "bad-envelope"],
    ["{}", "bad-envelope"],
    ['{"runId":7}', "bad-envelope"],
    ['{"runId":""}', "bad-envelope"],
    ['{"runId":"a b"}', "bad-envelope"],
    ['{"runId":"a#b"}', "bad-envelope"],
    [`{"runId":"${"x".repeat(65)}"}`, "bad-envelope"],
    ['{"runId":"a","tenant":"#DEF"}', "bad-envelope"],
    ['{"runId":"a","tenant":null}', "bad-envelope"],
    ['{"runId":"a","hints":"mail"}', "bad-envelope"],
    ['{"runId":"a","hints":[1]}', "bad-envelope"],
    ['{"runId":"a","n":-1}', "bad-envelope"],
    ['{"runId":"a","n":1.5}', "bad-envelope"],
    ['{"runId":"a","seq":"1"}', "bad-envelope"],
    ['{"runId":"a","task":"1/2"}', "bad-envelope"],
    ['{"runId":"a","task":{"node":1}}', "bad-envelope"],
    ['{"runId":"a","task":"1/2/3","sends":-1}', "bad-envelope"],
    ['{"runId":"a","format":0}', "bad-envelope"],
    ['{"runId":"a","format":"1"}', "bad-envelope"],
    ['{"format":2}', "newer-format"],
    ['{"format":2,"runId":"a b"}', "newer-format"],
  ])("%s is %s", (body, code) => {
    let caught: unknown;
    try {
      envelopeFrom(body);
    } catch (error) {
      caught = error;
    }
    expect(Fault.is(caught) && caught.code).toBe(code);
  });
});

describe("keys", () => {
  test("never let a tenant reach another one's partition, nor that of definitions", () => {
    fc.assert(
      fc.property(id, id, id, id, (tenant, runId, otherTenant, otherRun) => {
        const isSame = tenant === otherTenant && runId === otherRun;
        expect(partitionOf(tenant, runId) === partitionOf(otherTenant, otherRun)).toBe(isSame);
        expect(partitionOf(tenant, runId).startsWith("#")).toBe(false);
      }),
    );
    expect(definitionKey("f".repeat(32)).pk.startsWith("#")).toBe(true);
  });

  test.each(["", "a b", "a#b", "a/b", "ä", "x".repeat(65), 7, null, undefined])("%j is no id", (text) => {
    expect(isId(text)).toBe(false);
  });

  test("of attempts sort as their numbers do, and are read back", () => {
    const name = fc.tuple(fc.nat(999), fc.nat(999_999), fc.integer({ min: 1, max: 103 }));
    fc.assert(
      fc.property(name, name, (one, other) => {
        const [x, y] = [sk.attempt("0123456789abcdef", ...one), sk.attempt("0123456789abcdef", ...other)];
        const order = one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
        expect(Math.sign(order)).toBe(x < y ? -1 : x > y ? 1 : 0);
        const [node, index, attempt] = one;
        expect(attemptNameFromSk(x)).toEqual({ node, index, attempt });
        expect(attemptNameFrom(attemptName(...one))).toEqual({ node, index, attempt });
      }),
    );
  });

  test("of neighbours carry their run's uid, and purge names them all", () => {
    const uid = "0123456789abcdef";
    const prefixes = neighbourPrefixes(uid);
    const neighbours = [
      sk.attempt(uid, 1, 2, 3),
      sk.input(uid),
      sk.output(uid, 1, 2, "t"),
      sk.page(uid, 1),
      sk.signal(uid, "t"),
      sk.items(uid, 1, 2, "t"),
    ];
    for (const key of neighbours) {
      expect(key).toContain("01234567");
      expect(prefixes.some((prefix) => key.startsWith(prefix))).toBe(true);
      expect(key.startsWith("STATE")).toBe(false);
    }
    for (const key of [sk.mail(uid), sk.strikes(uid)]) expect(key.startsWith("STATE#")).toBe(true);
  });

  test("of the indexes spread over all shards", () => {
    const uids = Array.from({ length: 400 }, (_, at) => (at * 2654435761).toString(16).padStart(16, "0"));
    expect(new Set(uids.map(duePartition.live)).size).toBe(16);
    expect(new Set(uids.map((uid) => runsPartition("t", "w", uid))).size).toBe(4);
  });
});
