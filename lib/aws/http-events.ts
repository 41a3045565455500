import { Buffer } from "node:buffer";
import type { HttpRequest, HttpResponse, Identity } from "../ports/exchange.ts";

type Texts = { readonly [name: string]: string | undefined };

/** What HTTP APIs (payload format 2.0) and function URLs hand over. */
export interface HttpEventV2 {
  readonly version: "2.0";
  readonly rawPath: string;
  readonly headers?: Texts;
  readonly body?: string | undefined;
  readonly isBase64Encoded?: boolean;
  readonly requestContext: {
    readonly http: { readonly method: string };
    readonly stage?: string;
    readonly requestId?: string;
    readonly authorizer?: {
      readonly iam?: { readonly userArn?: string } | undefined;
      readonly jwt?: { readonly claims?: Readonly<Record<string, unknown>> | undefined } | undefined;
    };
  };
}

/** What REST APIs hand over (payload format 1.0). Header names are as the client spelled them. */
export interface HttpEventV1 {
  readonly version?: "1.0";
  readonly httpMethod: string;
  readonly path: string;
  readonly headers?: Texts | null;
  readonly multiValueHeaders?: { readonly [name: string]: readonly string[] | undefined } | null;
  readonly body?: string | null;
  readonly isBase64Encoded?: boolean;
  readonly requestContext: {
    readonly requestId?: string;
    readonly identity?: { readonly userArn?: string | null } | undefined;
    readonly authorizer?: { readonly claims?: Readonly<Record<string, unknown>> } | null;
  };
}

export type HttpEvent = HttpEventV1 | HttpEventV2;

/** What all of them take back. */
export interface HttpAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * A gateway's event as a request: header names in lower case, base64 undone, the caller as the authorizer left it.
 * Source: "AWS Lambda integrations for HTTP APIs" and "Lambda function URLs" (payloads), "Set up Lambda proxy integrations" (REST).
 */
export function requestFrom(event: HttpEvent): HttpRequest {
  return "httpMethod" in event ? fromV1(event) : fromV2(event);
}

function fromV2(event: HttpEventV2): HttpRequest {
  const { http, stage, authorizer, requestId } = event.requestContext;
  return {
    method: http.method.toUpperCase(),
    path: withoutStage(event.rawPath, stage),
    headers: lowered(event.headers ?? {}),
    body: bodyOf(event),
    identity: identityOf(authorizer?.iam?.userArn, authorizer?.jwt?.claims),
    requestId,
  };
}

function fromV1(event: HttpEventV1): HttpRequest {
  const { identity, authorizer, requestId } = event.requestContext;
  const several = Object.entries(event.multiValueHeaders ?? {}).map(
    ([name, values]) => [name, values?.join(", ")] as const,
  );
  return {
    method: event.httpMethod.toUpperCase(),
    path: event.path,
    headers: lowered({ ...event.headers, ...Object.fromEntries(several) }),
    body: bodyOf(event),
    identity: identityOf(identity?.userArn ?? undefined, authorizer?.claims),
    requestId,
  };
}

/** Only a named stage stands in the path; `$default` does not. */
function withoutStage(path: string, stage: string | undefined): string {
  return stage !== undefined && path.startsWith(`/${stage}/`) ? path.slice(stage.length + 1) : path;
}

function lowered(headers: Texts): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name.toLowerCase(), value]])),
  );
}

function bodyOf({ body, isBase64Encoded }: Pick<HttpEvent, "body" | "isBase64Encoded">): string | undefined {
  if (body === undefined || body === null) return undefined;
  return isBase64Encoded ? Buffer.from(body, "base64").toString("utf8") : body;
}

function identityOf(
  arn: string | undefined,
  claims: Readonly<Record<string, unknown>> | undefined,
): Identity | undefined {
  if (arn !== undefined) return { kind: "iam", arn };
  return claims && { kind: "claims", claims };
}

/** An answer as gateways take it. */
export function answerFrom({ status, headers, body }: HttpResponse): HttpAnswer {
  return { statusCode: status, headers, ...(body !== undefined && { body }) };
}
