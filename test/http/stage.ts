import * as v from "valibot";
import { answer } from "../../lib/http/api.ts";
import type { Tenancy } from "../../lib/http/caller.ts";
import { createRegistry, FatalError, signal, step, workflow } from "../../lib/index.ts";
import type { HttpRequest, HttpResponse, Identity } from "../../lib/ports/exchange.ts";
import { createWorld, type WorldOptions } from "../../lib/testing/world.ts";

const order = v.object({ cents: v.number() });
const charge = step("charge", { input: order, output: v.object({ receipt: v.string() }) }, ({ cents }) => {
  if (cents < 0) throw new FatalError("nobody pays you");
  return { receipt: `r-${cents}` };
});

/** Waits for a word, then charges. */
const patient = workflow("patient", { input: order }, (flow, input) => {
  const word = flow.signal(signal("go", v.object({ note: v.string() })));
  const paid = flow.run(charge, input, { after: [word] });
  return { receipt: paid.receipt, note: word.note };
});

/** Charges at once. */
const quick = workflow("quick", { input: order }, (flow, input) => ({ paid: flow.run(charge, input).receipt }));

const signed: Identity = { kind: "iam", arn: "arn:aws:iam::123456789012:user/ann" };

export interface Call {
  readonly body?: unknown;
  /** Instead of a body that is made JSON. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly identity?: Identity | undefined;
}

export interface Answer extends HttpResponse {
  // biome-ignore lint/suspicious/noExplicitAny: what a client reads
  readonly json: any;
}

/** The API on an installation in memory. */
export function stage(options: Partial<WorldOptions> & { readonly tenancy?: Tenancy } = {}) {
  const { tenancy = {}, ...more } = options;
  const world = createWorld({ registry: createRegistry([patient, quick]), ...more });
  const call = async (method: string, path: string, given: Call = {}): Promise<Answer> => {
    const { body, text, headers = {} } = given;
    const request: HttpRequest = {
      method,
      path,
      headers,
      body: text ?? (body === undefined ? undefined : JSON.stringify(body)),
      identity: "identity" in given ? given.identity : signed,
      requestId: "request-1",
    };
    const response = await answer({ engine: world.engine, tenancy }, request);
    return { ...response, json: response.body === undefined ? undefined : JSON.parse(response.body) };
  };
  const begin = (runId: string, workflow = "patient", cents = 5) =>
    call("POST", "/runs", { body: { workflow, runId, input: { cents } } });
  const statusOf = async (runId: string) => (await call("GET", `/runs/${runId}`)).json.status;
  return { world, call, begin, statusOf };
}
