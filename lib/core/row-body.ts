import { type ByteReader, type ByteWriter, bytesToHex, hexToBytes } from "./bytes.ts";
import type { FaultCode } from "./faults.ts";
import {
  type Active,
  type ActiveState,
  activeStates,
  type FactValue,
  livePhases,
  type MapFrame,
  type Phase,
  phases,
  type Run,
  type Tier,
  tiers,
} from "./run.ts";

/** What the body holds: the parts of a run that no condition and no index looks at. */
export type Body = Pick<
  Run,
  | "phase"
  | "isPaused"
  | "isParked"
  | "isUncompensated"
  | "ending"
  | "tier"
  | "deadlineAtMs"
  | "mail"
  | "pages"
  | "attempts"
  | "children"
  | "depth"
  | "active"
  | "maps"
  | "facts"
>;

const endings = [undefined, "failed", "cancelled"] as const;

/** Packs the body: numbers as varints, instants as offsets from the run's creation, positions as differences. */
export function writeBody(out: ByteWriter, run: Body & Pick<Run, "createdAtMs">): void {
  out.byte(
    (run.isPaused ? 1 : 0) |
      (run.isParked ? 2 : 0) |
      (run.isUncompensated ? 4 : 0) |
      (endings.indexOf(run.ending) << 3) |
      (tiers.indexOf(run.tier) << 5),
  );
  out.byte(phases.indexOf(run.phase));
  out.uint(Math.max(0, run.deadlineAtMs - run.createdAtMs));
  out.uint(run.mail.signals);
  out.uint(run.mail.mask);
  out.uint(run.mail.commands);
  out.uint(run.pages);
  out.uint(run.attempts);
  out.uint(run.children);
  out.uint(run.depth);
  writeActive(out, run);
  writeMaps(out, run.maps);
  writeFacts(out, run.facts);
}

export function readBody(input: ByteReader, createdAtMs: number): Body {
  const flags = input.byte();
  const phase = (phases[input.byte()] ?? livePhases[0]) as Phase;
  const deadlineAtMs = createdAtMs + input.uint();
  const mail = { signals: input.uint(), mask: input.uint(), commands: input.uint() };
  const [pages, attempts, children, depth] = [input.uint(), input.uint(), input.uint(), input.uint()];
  return {
    phase,
    isPaused: (flags & 1) !== 0,
    isParked: (flags & 2) !== 0,
    isUncompensated: (flags & 4) !== 0,
    ending: endings[(flags >> 3) & 3],
    tier: tiers[(flags >> 5) & 3] as Tier,
    deadlineAtMs,
    mail,
    pages,
    attempts,
    children,
    depth,
    active: readActive(input, createdAtMs),
    maps: readMaps(input),
    facts: readFacts(input),
  };
}

/** An active node: at most 18 bytes with an index or a token and instants within 49 days. */
function writeActive(out: ByteWriter, run: Pick<Run, "active" | "createdAtMs">): void {
  out.uint(run.active.length);
  let last = 0;
  for (const entry of run.active) {
    out.uint(entry.node - last);
    last = entry.node;
    const hasUntil = entry.untilMs > 0;
    const hasIndex = entry.index > 0;
    out.byte(
      activeStates.indexOf(entry.state) |
        (entry.lost << 3) |
        (hasUntil ? 32 : 0) |
        (hasIndex ? 64 : 0) |
        (entry.token ? 128 : 0),
    );
    if (hasIndex) out.uint(entry.index);
    out.uint(entry.attempt);
    out.byte(entry.sends);
    out.uint(Math.max(0, entry.sinceMs - run.createdAtMs));
    if (hasUntil) out.int(entry.untilMs - entry.sinceMs);
    if (entry.token) out.raw(hexToBytes(entry.token));
  }
}

function readActive(input: ByteReader, createdAtMs: number): readonly Active[] {
  const count = input.uint();
  let node = 0;
  return Array.from({ length: count }, () => {
    node += input.uint();
    const flags = input.byte();
    const index = flags & 64 ? input.uint() : 0;
    const [attempt, sends, sinceMs] = [input.uint(), input.byte(), createdAtMs + input.uint()];
    const untilMs = flags & 32 ? sinceMs + input.int() : 0;
    const token = flags & 128 ? bytesToHex(input.raw(8)) : "";
    return {
      node,
      index,
      attempt,
      state: activeStates[flags & 7] as ActiveState,
      sinceMs,
      untilMs,
      sends,
      lost: (flags >> 3) & 3,
      token,
    };
  });
}

function writeMaps(out: ByteWriter, maps: readonly MapFrame[]): void {
  out.uint(maps.length);
  for (const frame of maps) {
    for (const value of [frame.node, frame.total, frame.next, frame.done, frame.failed, frame.perPage]) out.uint(value);
    out.block(hexToBytes(frame.pagesToken));
  }
}

function readMaps(input: ByteReader): readonly MapFrame[] {
  return Array.from({ length: input.uint() }, () => ({
    node: input.uint(),
    total: input.uint(),
    next: input.uint(),
    done: input.uint(),
    failed: input.uint(),
    perPage: input.uint(),
    pagesToken: bytesToHex(input.block()),
  }));
}

const tags = ["false", "true", "int", "text", "double", "null", "missing", "fault"] as const;

/** A boolean takes one byte: its kind beside the difference of its number. */
export function writeFacts(out: ByteWriter, facts: ReadonlyMap<number, FactValue>): void {
  out.uint(facts.size);
  let last = -1;
  for (const [number, fact] of [...facts].sort(([x], [y]) => x - y)) {
    const tag = tagOf(fact);
    const step = number - last - 1;
    last = number;
    out.byte(tags.indexOf(tag) | (Math.min(step, 31) << 3));
    if (step >= 31) out.uint(step - 31);
    if (fact.kind === "fault") out.text(fact.code);
    else if (tag === "int") out.int((fact as { value: number }).value);
    else if (tag === "double") out.double((fact as { value: number }).value);
    else if (tag === "text") out.text((fact as { value: string }).value);
  }
}

function tagOf(fact: FactValue): (typeof tags)[number] {
  if (fact.kind !== "value") return fact.kind;
  const { value } = fact;
  if (value === null) return "null";
  if (typeof value === "boolean") return value ? "true" : "false";
  if (typeof value === "string") return "text";
  return Number.isSafeInteger(value) && Math.abs(value) < 2 ** 51 && !Object.is(value, -0) ? "int" : "double";
}

export function readFacts(input: ByteReader): ReadonlyMap<number, FactValue> {
  const facts = new Map<number, FactValue>();
  const count = input.uint();
  let number = -1;
  for (let each = 0; each < count; each++) {
    const head = input.byte();
    const step = head >> 3;
    number += 1 + (step < 31 ? step : 31 + input.uint());
    facts.set(number, readFact(input, tags[head & 7] ?? "missing"));
  }
  return facts;
}

function readFact(input: ByteReader, tag: (typeof tags)[number]): FactValue {
  switch (tag) {
    case "missing":
      return { kind: "missing" };
    case "fault":
      return { kind: "fault", code: input.text() as FaultCode };
    case "int":
      return { kind: "value", value: input.int() };
    case "double":
      return { kind: "value", value: input.double() };
    case "text":
      return { kind: "value", value: input.text() };
    case "null":
      return { kind: "value", value: null };
    default:
      return { kind: "value", value: tag === "true" };
  }
}
