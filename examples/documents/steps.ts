import * as v from "valibot";
import { FatalError, step } from "../../lib/index.ts";
import { ask } from "../sandbox.ts";

const id = v.pipe(v.string(), v.nonEmpty());
const share = v.pipe(v.number(), v.minValue(0), v.maxValue(1));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const print = v.picklist(["sharp", "faint"]);

/** One document, where it comes from and goes to, and what state its paper is in. */
export const documentInput = v.object({
  documentId: id,
  pages: v.pipe(count, v.minValue(1)),
  archive: v.optional(id, "archive"),
  scanner: v.optional(id, "scanner"),
  library: v.optional(id, "library"),
  print: v.optional(print, "sharp"),
  torn: v.optional(v.array(count), []),
  /** Whether the library indexes every word, not only their number. */
  isIndexed: v.optional(v.boolean(), false),
});

/** A batch of documents. */
export const batchInput = v.object({ batchId: id, documents: v.array(documentInput) });

const page = v.object({ number: count, image: id, print, isTorn: v.boolean() });
const recognized = v.object({ number: count, words: count, confidence: share, text: v.optional(v.string()) });

/** What became of something that may fail: an item of a map with a tolerance. */
const outcomeOf = <S extends v.GenericSchema>(value: S) =>
  v.variant("ok", [
    v.object({ ok: v.literal(true), value }),
    v.object({ ok: v.literal(false), error: v.object({ code: v.string(), message: v.string() }) }),
  ]);

export const split = step(
  "split",
  {
    input: documentInput,
    output: v.object({ pages: v.array(page) }),
    inline: true,
    timeout: "5s",
    retry: { attempts: 3 },
  },
  async ({ documentId, pages, archive, print, torn }, context) => {
    await ask("the archive", archive, context);
    const numbers = Array.from({ length: pages }, (_, number) => number);
    return {
      pages: numbers.map((number) => ({
        number,
        image: `scans/${documentId}/${number}.png`,
        print,
        isTorn: torn.includes(number),
      })),
    };
  },
);

export const recognize = step(
  "recognize",
  {
    input: v.object({ scanner: id, page, isIndexed: v.boolean() }),
    output: recognized,
    group: "recognition",
    timeout: "5s",
    retry: { attempts: 3 },
  },
  async ({ scanner, page, isIndexed }, context) => {
    await ask("the scanner", scanner, context);
    if (page.isTorn) throw new FatalError(`${page.image} is torn: nothing to read`);
    const words = 180 + ((page.number * 37) % 140);
    return {
      number: page.number,
      words,
      confidence: page.print === "faint" ? 0.6 : 0.97,
      ...(isIndexed && {
        text: `Whereas the parties of page ${page.number} agree: ${"contract clause ".repeat(words / 2)}`,
      }),
    };
  },
);

export const assemble = step(
  "assemble",
  {
    input: v.object({ pages: v.array(outcomeOf(recognized)) }),
    output: v.object({ words: count, missing: v.array(count), confidence: share, text: v.string() }),
    timeout: "5s",
    inline: true,
    repeatable: true,
  },
  ({ pages }) => {
    const read = pages.flatMap((page) => (page.ok ? [page.value] : []));
    return {
      words: read.reduce((sum, { words }) => sum + words, 0),
      missing: pages.flatMap((page, number) => (page.ok ? [] : [number])),
      confidence: Math.min(1, ...read.map(({ confidence }) => confidence)),
      text: read.map(({ text }) => text ?? "").join(""),
    };
  },
);

export const publish = step(
  "publish",
  {
    input: v.object({ documentId: id, library: id, text: v.string() }),
    output: v.object({ place: id, indexedBytes: count }),
    inline: true,
    timeout: "5s",
    retry: { attempts: 3 },
  },
  async ({ documentId, library, text }, context) => {
    await ask("the library", library, context);
    return { place: `${library}/${documentId}`, indexedBytes: text.length };
  },
);

export const setAside = step(
  "set-aside",
  {
    input: v.object({ documentId: id, confidence: share }),
    output: v.object({ place: id }),
    inline: true,
    timeout: "5s",
  },
  ({ documentId }) => ({ place: `desk/${documentId}` }),
);

export const report = step(
  "report",
  {
    input: v.object({ documents: v.array(outcomeOf(v.object({ isPublished: v.boolean() }))) }),
    output: v.object({ published: count, setAside: count, failed: count }),
    timeout: "5s",
    inline: true,
    repeatable: true,
  },
  ({ documents }) => {
    const done = documents.flatMap((document) => (document.ok ? [document.value] : []));
    const published = done.filter(({ isPublished }) => isPublished).length;
    return { published, setAside: done.length - published, failed: documents.length - done.length };
  },
);
