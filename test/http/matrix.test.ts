import { describe, expect, it } from "vitest";
import { cancel, pause, terminate } from "../../lib/engine/commands.ts";
import { stage } from "./stage.ts";

const ref = { tenant: "default", runId: "o-1" };
type Stage = ReturnType<typeof stage>;

const until = async (it: Stage, status: string) =>
  await it.world.until(async () => (await it.statusOf("o-1")) === status, 60_000);

/** How a run comes to a status. */
const states: { readonly [status: string]: (it: Stage) => Promise<unknown> } = {
  missing: async () => undefined,
  running: (it) => it.begin("o-1"),
  paused: async (it) => {
    await it.begin("o-1");
    await pause(it.world.engine, ref, "ann");
    await until(it, "paused");
  },
  succeeded: async (it) => {
    await it.begin("o-1");
    await it.call("POST", "/runs/o-1/signals/go", { body: { id: "first", payload: { note: "hi" } } });
    await until(it, "succeeded");
  },
  failed: async (it) => {
    await it.begin("o-1", "patient", -1);
    await it.call("POST", "/runs/o-1/signals/go", { body: { payload: { note: "hi" } } });
    await until(it, "failed");
  },
  cancelled: async (it) => {
    await it.begin("o-1");
    await cancel(it.world.engine, ref, "ann");
    await until(it, "cancelled");
  },
  terminated: async (it) => {
    await it.begin("o-1");
    await terminate(it.world.engine, ref, "ann");
    await until(it, "terminated");
  },
};

/** Columns: look at it, with If-None-Match and its tag, and another, with If-Match and its tag, and another; a signal. */
const expected: { readonly [status: string]: readonly number[] } = {
  missing: [404, 404, 404, 404, 404, 404],
  running: [200, 304, 200, 200, 412, 202],
  paused: [200, 304, 200, 200, 412, 202],
  succeeded: [200, 304, 200, 200, 412, 409],
  failed: [200, 304, 200, 200, 412, 409],
  cancelled: [200, 304, 200, 200, 412, 409],
  terminated: [200, 304, 200, 200, 412, 409],
};

describe.each(Object.keys(states))("a run that is %s", (status) => {
  it("answers each request with the status of its row in the matrix", async () => {
    const it = stage();
    await states[status]?.(it);
    const look = (headers: Record<string, string> = {}) => it.call("GET", "/runs/o-1", { headers });
    const etag = (await look()).headers["etag"] ?? '"none"';
    const answers = [
      await look(),
      await look({ "if-none-match": etag }),
      await look({ "if-none-match": '"other"' }),
      await look({ "if-match": etag }),
      await look({ "if-match": '"other"' }),
      await it.call("POST", "/runs/o-1/signals/go", { body: { payload: { note: "hi" } } }),
    ];
    expect(answers.map((answer) => answer.status)).toEqual(expected[status]);
    for (const answer of answers) {
      const isProblem = answer.status >= 400;
      expect(answer.headers["etag"] !== undefined).toBe([200, 304].includes(answer.status));
      if (isProblem) expect(answer.headers["content-type"]).toBe("application/problem+json");
      expect(answer.headers["cache-control"]).toContain("no-transform");
    }
  });

  it("is started anew only where it is missing, found by the same start, and kept from any other", async () => {
    const it = stage();
    await states[status]?.(it);
    const cents = status === "failed" ? -1 : 5;
    expect((await it.begin("o-1", "patient", cents)).status).toBe(status === "missing" ? 201 : 200);
    expect((await it.begin("o-1", "patient", 7)).status).toBe(409);
    expect((await it.begin("o-1", "quick", cents)).status).toBe(409);
  });
});
