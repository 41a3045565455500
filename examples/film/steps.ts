import * as v from "valibot";
import { external, signal, step } from "../../lib/index.ts";
import { ask } from "../sandbox.ts";

const id = v.pipe(v.string(), v.nonEmpty());
const stored = v.object({ path: id });
const rendered = v.object({ url: id, seconds: v.number() });

/** A film: where it comes from, and when it may be seen. */
export const filmInput = v.object({
  filmId: id,
  source: v.variant("kind", [
    v.object({ kind: v.literal("upload"), uploadId: id }),
    v.object({ kind: v.literal("link"), url: id }),
  ]),
  /** ISO 8601; at once unless given. */
  publishAt: v.optional(v.pipe(v.string(), v.isoTimestamp())),
});

/** Asks how far the virus scan of an upload is. It goes on elsewhere, and tells nobody when it is done. */
export const checkScan = step(
  "check-scan",
  {
    input: v.object({ uploadId: id, since: v.optional(id) }),
    output: v.object({ state: v.picklist(["scanning", "clean"]), cursor: id, path: id }),
    timeout: "5s",
  },
  async ({ uploadId, since }, context) => {
    await ask("the scanner", uploadId, context);
    return { state: context.index < 3 ? "scanning" : "clean", cursor: `${since ?? ""}.`, path: `uploads/${uploadId}` };
  },
);

export const download = step(
  "download",
  { input: v.object({ url: id }), output: stored, timeout: "5s" },
  async ({ url }, context) => {
    await ask("the web", url, context);
    return { path: `downloads/${url.length}` };
  },
);

/** The render farm, as a test or a demo replaces it. A real one keeps the token with the job, and calls back with it. */
export const farm: {
  accept(job: { readonly filmId: string; readonly path: string; readonly token: string }): Promise<void>;
} = {
  accept: async () => {},
};

/** Hours on machines of somebody else's. The farm says every few minutes that it is at work, and what came out in the end. */
export const render = external(
  "render",
  {
    input: v.object({ filmId: id, path: id }),
    output: rendered,
    completeWithin: "12h",
    beat: "10m",
    retry: { attempts: 2 },
    timeout: "5s",
  },
  async ({ filmId, path }, context) => {
    await ask("the farm", filmId, context);
    await farm.accept({ filmId, path, token: context.token });
  },
);

export const remove = step("remove-film", { input: v.object({ url: id }), timeout: "5s" }, () => {});

/** The author changed their mind. */
export const withdrawn = signal("withdrawn", v.object({ why: v.string() }));

export const publish = step(
  "publish-film",
  { input: v.object({ filmId: id, url: id }), output: v.object({ at: id }), inline: true },
  ({ filmId }) => ({ at: `films/${filmId}` }),
);
