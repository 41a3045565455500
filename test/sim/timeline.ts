/** Virtual time as a list of what happens when. One thing happens at a time, and everything that it sets off has run before the next. */
export interface Timeline {
  nowMs(): number;
  /** Gives a way to call it off. */
  at(atMs: number, happen: () => void): () => void;
  sleep(delayMs: number): Promise<void>;
  /** When the next thing happens; `undefined` if nothing does. */
  nextAtMs(): number | undefined;
  /** Lets the next thing happen. */
  step(): Promise<void>;
  /** Nothing happens until this instant. */
  skipTo(atMs: number): void;
  /** Lets everything run that can without time passing. */
  settle(): Promise<void>;
}

interface Entry {
  readonly atMs: number;
  readonly order: number;
  happen: (() => void) | undefined;
}

/** A timeline that begins in 2027, so that seconds, milliseconds and small numbers cannot be taken for one another. */
export function createTimeline(startMs = 1_800_000_000_000): Timeline {
  const heap: Entry[] = [];
  let nowMs = startMs;
  let order = 0;

  function at(atMs: number, happen: () => void): () => void {
    const entry: Entry = { atMs: Math.max(nowMs, Math.ceil(atMs)), order: order++, happen };
    push(heap, entry);
    return () => {
      entry.happen = undefined;
    };
  }

  function next(): Entry | undefined {
    while (heap[0] !== undefined && heap[0].happen === undefined) pop(heap);
    return heap[0];
  }

  return {
    nowMs: () => nowMs,
    at,
    sleep: (delayMs) => new Promise((resolve) => void at(nowMs + Math.max(0, delayMs), resolve)),
    nextAtMs: () => next()?.atMs,
    async step() {
      const entry = next();
      if (!entry) return;
      pop(heap);
      nowMs = entry.atMs;
      entry.happen?.();
      await settle();
    },
    skipTo(atMs) {
      nowMs = Math.max(nowMs, atMs);
    },
    settle,
  };
}

/** All microtasks, and those that they make, run before the next turn of the event loop. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const isBefore = (a: Entry, b: Entry) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

function push(heap: Entry[], entry: Entry): void {
  let at = heap.push(entry) - 1;
  while (at > 0) {
    const above = (at - 1) >> 1;
    const parent = heap[above] as Entry;
    if (!isBefore(entry, parent)) break;
    heap[at] = parent;
    at = above;
  }
  heap[at] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop() as Entry;
  if (heap.length === 0) return;
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    if (left >= heap.length) break;
    const right = left + 1;
    const child = right < heap.length && isBefore(heap[right] as Entry, heap[left] as Entry) ? right : left;
    if (!isBefore(heap[child] as Entry, last)) break;
    heap[at] = heap[child] as Entry;
    at = child;
  }
  heap[at] = last;
}
