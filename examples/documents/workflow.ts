import { call, coalesce, exists, gte, must, not, workflow } from "../../lib/index.ts";
import { assemble, batchInput, documentInput, publish, recognize, report, setAside, split } from "./steps.ts";

/** What is read with less confidence goes to a person's desk. */
const confidenceLeast = 0.8;

/** One document: split into pages, all of them read side by side, put together again, and published if it can be trusted. */
export const document = workflow("document", { input: documentInput }, (flow, input) => {
  const { pages } = flow.run(split, input);

  const read = flow.map(
    pages,
    (page) => call(recognize, { scanner: input.scanner, page, isIndexed: input.isIndexed }),
    {
      concurrency: 32,
      tolerate: "10%",
    },
  );

  const text = flow.run(assemble, { pages: read });
  const isTrusted = gte(text.confidence, confidenceLeast);

  const published = flow.run(
    publish,
    { documentId: input.documentId, library: input.library, text: text.text },
    { when: isTrusted },
  );

  const aside = flow.run(
    setAside,
    { documentId: input.documentId, confidence: text.confidence },
    { when: not(isTrusted) },
  );

  return {
    documentId: input.documentId,
    isPublished: exists(published),
    place: must(coalesce(published, aside)).place,
    words: text.words,
    missing: text.missing,
  };
});

/** A batch: a run of its own for each document, so that each can be watched, cancelled and tried again; and a report at the end. */
export const documents = workflow("documents", { input: batchInput }, (flow, input) => {
  const outcomes = flow.map(input.documents, document, { concurrency: 8, tolerate: "50%" });
  const counts = flow.run(report, { documents: outcomes });
  return { batchId: input.batchId, counts };
});
