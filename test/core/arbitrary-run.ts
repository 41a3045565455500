import fc from "fast-check";
import { type FaultCode, faults } from "../../lib/core/faults.ts";
import { fixed } from "../../lib/core/limits.ts";
import {
  type Active,
  activeStates,
  type Due,
  type FactValue,
  livePhases,
  type MapFrame,
  type Run,
  type TinyOutput,
  terminalPhases,
  tiers,
} from "../../lib/core/run.ts";

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((all) => Buffer.from(all).toString("hex"));
const id = fc.stringMatching(/^[A-Za-z0-9._-]{1,64}$/);
const instant = fc.integer({ min: 0, max: 400 * 86_400_000 });
const code = fc.constantFrom(...(Object.keys(faults) as FaultCode[]));

export const factValue: fc.Arbitrary<FactValue> = fc.oneof(
  fc
    .oneof(
      fc.boolean(),
      fc.integer(),
      fc.maxSafeInteger(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.string({ maxLength: 8 }),
      fc.constant(null),
    )
    .map((value) => ({ kind: "value" as const, value })),
  fc.constant({ kind: "missing" as const }),
  code.map((each) => ({ kind: "fault" as const, code: each })),
);

const active = (createdAtMs: number): fc.Arbitrary<Active> =>
  fc.record({
    node: fc.integer({ min: 0, max: fixed.nodesMax - 1 }),
    index: fc.integer({ min: 0, max: fixed.mapItemsMax - 1 }),
    attempt: fc.integer({ min: 1, max: 103 }),
    state: fc.constantFrom(...activeStates),
    sinceMs: instant.map((ms) => createdAtMs + ms),
    untilMs: fc.oneof(
      fc.constant(0),
      instant.map((ms) => createdAtMs + ms),
    ),
    sends: fc.integer({ min: 0, max: 255 }),
    lost: fc.integer({ min: 0, max: 3 }),
    token: fc.oneof(fc.constant(""), hex(8)),
  });

const frame: fc.Arbitrary<MapFrame> = fc.record({
  node: fc.integer({ min: 0, max: fixed.nodesMax - 1 }),
  total: fc.integer({ min: 0, max: fixed.mapItemsMax }),
  next: fc.integer({ min: 0, max: fixed.mapItemsMax }),
  done: fc.integer({ min: 0, max: fixed.mapItemsMax }),
  failed: fc.integer({ min: 0, max: fixed.mapItemsMax }),
  perPage: fc.integer({ min: 0, max: 4096 }),
  pagesToken: fc.oneof(fc.constant(""), hex(8)),
});

const tiny = (createdAtMs: number): fc.Arbitrary<TinyOutput> =>
  fc
    .record({
      node: fc.integer({ min: -1, max: fixed.nodesMax - 1 }),
      kind: fc.constantFrom("value", "payload", "fault"),
      attempt: fc.integer({ min: 0, max: 103 }),
      startedAtMs: instant.map((ms) => createdAtMs + ms),
      tookMs: fc.integer({ min: 0, max: 900_000 }),
      token: hex(8),
      json: fc.json({ maxDepth: 1 }),
    })
    .map(({ tookMs, token, json, ...rest }) => ({
      ...rest,
      kind: rest.kind as TinyOutput["kind"],
      text: rest.kind === "payload" ? token : json,
      endedAtMs: rest.startedAtMs + tookMs,
    }));

const due: fc.Arbitrary<Due | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.record({
    kind: fc.constantFrom("at" as const, "parked" as const, "ended-badly" as const),
    atMs: fc.integer({ min: 1, max: 2 ** 48 }),
  }),
);

const inOrder = (list: readonly Active[]) => [...list].sort((a, b) => a.node - b.node || a.index - b.index);

/** Any run that the format must carry, whether an engine would make it or not. */
export const arbitraryRun: fc.Arbitrary<Run> = fc.integer({ min: 1, max: 2_000_000_000_000 }).chain((createdAtMs) =>
  fc.record({
    tenant: id,
    runId: id,
    runUid: hex(8),
    workflow: id,
    definitionHash: hex(16),
    inputHash: hex(16),
    tier: fc.constantFrom(...tiers),
    createdAtMs: fc.constant(createdAtMs),
    deadlineAtMs: instant.map((ms) => createdAtMs + ms),
    recordVersion: fc.integer({ min: 1, max: 2 ** 40 }),
    transitionSeq: fc.integer({ min: 0, max: 2 ** 40 }),
    phase: fc.constantFrom(...livePhases, ...terminalPhases),
    isPaused: fc.boolean(),
    isParked: fc.boolean(),
    ending: fc.constantFrom(undefined, "failed" as const, "cancelled" as const),
    reason: fc.option(fc.record({ code, message: fc.string({ maxLength: 120 }) }), { nil: undefined }),
    isUncompensated: fc.boolean(),
    nodes: fc.uint8Array({ maxLength: 250 }),
    active: fc.array(active(createdAtMs), { maxLength: 64 }).map(inOrder),
    maps: fc.array(frame, { maxLength: 5 }),
    facts: fc
      .array(fc.tuple(fc.integer({ min: 0, max: 2000 }), factValue), { maxLength: 40 })
      .map((all) => new Map([...new Map(all)].sort(([a], [b]) => a - b))),
    tiny: fc.array(tiny(createdAtMs), { maxLength: 8 }),
    pages: fc.nat(10_000),
    mail: fc.record({ signals: fc.nat(), mask: fc.integer({ min: 0, max: 0xffffffff }), commands: fc.nat() }),
    attempts: fc.nat(),
    children: fc.nat(),
    depth: fc.nat(8),
    hasParent: fc.boolean(),
    commitIds: fc.array(hex(8), { maxLength: 4 }),
    due,
    endedAtMs: fc.option(fc.integer({ min: 1, max: 2 ** 48 }), { nil: undefined }),
  }),
);
