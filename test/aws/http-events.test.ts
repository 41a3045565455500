import type { Context } from "aws-lambda";
import { describe, expect, it } from "vitest";
import { onHttp } from "../../lib/aws/handler.ts";
import { type HttpEvent, requestFrom } from "../../lib/aws/http-events.ts";
import type { HttpRequest } from "../../lib/ports/exchange.ts";

const arn = "arn:aws:iam::123456789012:user/ann";

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

/** One request, in the shape of each gateway; only a REST API keeps the client's spelling of header names. */
const shapes: Readonly<Record<string, (sent: Sent) => HttpEvent>> = {
  "an HTTP API": ({ method, path, headers, ...body }) => ({
    version: "2.0",
    rawPath: path,
    headers: lowered(headers),
    requestContext: { http: { method }, stage: "$default", requestId: "r", authorizer: { iam: { userArn: arn } } },
    ...body,
  }),
  "an HTTP API with a stage": ({ method, path, headers, ...body }) => ({
    version: "2.0",
    rawPath: `/live${path}`,
    headers: lowered(headers),
    requestContext: { http: { method }, stage: "live", requestId: "r", authorizer: { iam: { userArn: arn } } },
    ...body,
  }),
  "a function URL": ({ method, path, headers, ...body }) => ({
    version: "2.0",
    routeKey: "$default",
    rawPath: path,
    headers: lowered(headers),
    requestContext: { http: { method }, stage: "$default", requestId: "r", authorizer: { iam: { userArn: arn } } },
    isBase64Encoded: false,
    ...body,
  }),
  "a REST API": ({ method, path, headers, body = null as never, ...more }) => ({
    httpMethod: method,
    path,
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    body,
    requestContext: { requestId: "r", identity: { userArn: arn } },
    ...more,
  }),
  "a REST API without lists of values": ({ method, path, headers, body = null as never, ...more }) => ({
    httpMethod: method,
    path,
    headers,
    multiValueHeaders: null,
    body,
    requestContext: { requestId: "r", identity: { userArn: arn }, authorizer: null },
    ...more,
  }),
};

const lowered = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

describe.each(Object.entries(shapes))("a request from %s", (_, shape) => {
  it.each(["If-Match", "if-match", "IF-MATCH"])("is the same request, with its header spelled %s (H5)", (name) => {
    const request = requestFrom(
      shape({ method: "post", path: "/runs/o-1", headers: { [name]: '"u1-7"' }, body: "{}" }),
    );
    expect(request).toEqual<HttpRequest>({
      method: "POST",
      path: "/runs/o-1",
      headers: { "if-match": '"u1-7"' },
      body: "{}",
      identity: { kind: "iam", arn },
      requestId: "r",
    });
  });

  it("has its body decoded, if the gateway encoded it, and none if there is none", () => {
    const text = '{"näme":"🙂"}';
    const body = Buffer.from(text).toString("base64");
    const given = { method: "POST", path: "/runs", headers: {} };
    expect(requestFrom(shape({ ...given, body, isBase64Encoded: true })).body).toBe(text);
    expect(requestFrom(shape(given)).body).toBeUndefined();
  });
});

describe("the caller of a request", () => {
  const v2 = (authorizer: object | undefined) =>
    requestFrom({
      version: "2.0",
      rawPath: "/",
      requestContext: { http: { method: "GET" }, ...(authorizer && { authorizer }) },
    }).identity;

  it("is whom the token's checked claims name", () => {
    const claims = { sub: "ann", org: "acme" };
    expect(v2({ jwt: { claims, scopes: null } })).toEqual({ kind: "claims", claims });
    const v1 = {
      httpMethod: "GET",
      path: "/",
      requestContext: { identity: { userArn: null }, authorizer: { claims } },
    };
    expect(requestFrom(v1).identity).toEqual({ kind: "claims", claims });
  });

  it("is nobody where no authorizer found one, whatever the headers say", () => {
    expect(v2(undefined)).toBeUndefined();
    expect(v2({ lambda: { sub: "ann" } })).toBeUndefined();
  });
});

describe("a function behind a gateway", () => {
  it("answers with a status, headers and a text, or none, and flushes its metrics", async () => {
    let flushed = 0;
    const deps = {
      log: { write: () => undefined },
      metrics: { count: () => undefined, flush: async () => void flushed++ },
    };
    const handler = onHttp({ init: () => deps }, async (_, { path }) => ({
      status: path === "/a" ? 200 : 304,
      headers: { etag: '"u-1"' },
      body: path === "/a" ? "{}" : undefined,
    }));
    const context = { getRemainingTimeInMillis: () => 1000 } as Context;
    const get = (path: string) => handler(shapes["an HTTP API"]!({ method: "GET", path, headers: {} }), context);
    expect(await get("/a")).toEqual({ statusCode: 200, headers: { etag: '"u-1"' }, body: "{}" });
    expect(await get("/b")).toEqual({ statusCode: 304, headers: { etag: '"u-1"' } });
    expect(flushed).toBe(2);
  });
});
