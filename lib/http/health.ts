import { faultOfTable } from "../engine/probe.ts";
import { json } from "./answers.ts";
import type { Api } from "./api.ts";
import { problemOf } from "./problem.ts";
import type { Route } from "./router.ts";

/** Whether this function lives and its table answers. For every caller whom the gateway let in: it shows nothing of any tenant. */
export const healthRoute: Route<Api> = {
  method: "GET",
  path: "/health",
  async run({ engine }) {
    const fault = await faultOfTable(engine);
    if (fault === undefined) return json(200, { status: "ok", build: engine.build, table: "answers" });
    engine.log.write("warn", "http.unhealthy", { code: fault.code, reason: fault.message });
    return problemOf(fault);
  },
};
