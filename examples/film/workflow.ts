import { call, type Duration, eq, ne, workflow } from "../../lib/index.ts";
import { checkScan, download, filmInput, publish, remove, render, withdrawn } from "./steps.ts";

/** How long things may take. */
export interface FilmPeriods {
  readonly scan: Duration;
  readonly review: Duration;
}

/** A film, from wherever it comes to where it is seen: scanned or downloaded, rendered elsewhere, looked at, published on its day. */
const filmWorkflow = (every: FilmPeriods) =>
  workflow("film", { input: filmInput }, (flow, input) => {
    const { filmId } = input;

    const file = flow.choose(input.source, "kind", {
      upload: ({ uploadId }, upload) => {
        const scan = upload.repeat(checkScan, (last) => ({ uploadId, since: last.cursor }), {
          until: ({ state }) => eq(state, "clean"),
          every: every.scan,
          factor: 2,
          longest: "10m",
          limit: 50,
        });
        return { path: scan.path };
      },
      link: ({ url }, link) => link.run(download, { url }),
    });

    const film = flow.external(render, { filmId, path: file.path }, { compensate: ({ url }) => call(remove, { url }) });

    // who is first: a person who says yes or no, the author who takes it back, or nobody
    const end = flow.first({
      review: flow.gate("review", { about: { filmId, url: film.url }, onReject: "continue" }),
      withdrawn: flow.signal(withdrawn, { after: [film] }),
      silence: flow.sleep("silence", every.review, { after: [film] }),
    });
    const verdict = flow.choose(
      end,
      "winner",
      {
        review: ({ value }) => ({ isFit: value.approved, why: "the review" }),
        withdrawn: ({ value }) => ({ isFit: false, why: value.why }),
      },
      () => ({ isFit: true, why: "nobody objected" }),
    );

    const published = flow.when(verdict.isFit, (fit) => {
      const day = fit.given(input.publishAt, (at, dated) => dated.sleep("day", { until: at }));
      return fit.run(publish, { filmId, url: film.url }, { after: [day] });
    });
    flow.run(remove, { url: film.url }, { when: ne(verdict.isFit, true) });

    return { filmId, at: published.at, why: verdict.why };
  });

export const film = filmWorkflow({ scan: "30s", review: "3d" });
