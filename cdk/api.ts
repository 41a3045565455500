import { AccessLogFormat } from "aws-cdk-lib/aws-apigateway";
import {
  CorsHttpMethod,
  HttpApi,
  HttpMethod,
  HttpStage,
  type IHttpRouteAuthorizer,
  LogGroupLogDestination,
} from "aws-cdk-lib/aws-apigatewayv2";
import { HttpIamAuthorizer, HttpJwtAuthorizer } from "aws-cdk-lib/aws-apigatewayv2-authorizers";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import type { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import type { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { FunctionOptions } from "./functions.ts";

/** Choices of the HTTP API; all have defaults. */
export interface ApiOptions extends FunctionOptions {
  /**
   * Callers bear a token instead of signing their requests. `tenantClaim` names the claim that says whose runs a caller may see; a token
   * without it is let into nothing. Unless given, requests are signed (IAM), and all runs are those of tenant `default`.
   */
  readonly jwt?: { readonly issuer: string; readonly audience: readonly string[]; readonly tenantClaim: string };
  /** Web pages, by origin, that may call the API from a browser: none unless given. */
  readonly origins?: readonly string[];
  /** Requests a second, and at once; 50 and 100 unless given. More are answered 429 by the gateway. */
  readonly throttle?: { readonly rateLimit: number; readonly burstLimit: number };
}

/** What the address needs beside the function that answers. */
export interface ApiParts {
  readonly options: ApiOptions;
  readonly handler: NodejsFunction;
  readonly accessLog: LogGroup;
}

/** Whether there is one, and its choices. */
export function apiOptionsOf(api: "http" | "none" | ApiOptions = "http"): ApiOptions | undefined {
  if (api === "none") return undefined;
  return api === "http" ? {} : api;
}

/** Every method but OPTIONS, which the gateway answers itself where browsers may call. */
const methods = [
  HttpMethod.GET,
  HttpMethod.HEAD,
  HttpMethod.POST,
  HttpMethod.PUT,
  HttpMethod.PATCH,
  HttpMethod.DELETE,
] as const;

/**
 * The HTTP API in front of the api function. No address of it is open: each wants a signature, or a token. What there is, the
 * function knows; so a new version needs no new routes.
 */
export function createApi(scope: Construct, { options, handler, accessLog }: ApiParts): HttpApi {
  const inside = new Construct(scope, "Http");
  const api = new HttpApi(inside, "Api", {
    description: "Starts runs, shows them, and takes their signals.",
    createDefaultStage: false,
    ...(options.origins && { corsPreflight: corsOf(options.origins) }),
  });
  api.addRoutes({
    path: "/{address+}",
    methods: [...methods],
    integration: new HttpLambdaIntegration("Function", handler),
    authorizer: authorizerOf(options),
  });
  new HttpStage(inside, "Stage", {
    httpApi: api,
    stageName: "$default",
    autoDeploy: true,
    throttle: options.throttle ?? { rateLimit: 50, burstLimit: 100 },
    accessLogSettings: { destination: new LogGroupLogDestination(accessLog), format: accessLine },
  });
  return api;
}

function authorizerOf({ jwt }: ApiOptions): IHttpRouteAuthorizer {
  if (jwt === undefined) return new HttpIamAuthorizer();
  return new HttpJwtAuthorizer("Tokens", jwt.issuer, { jwtAudience: [...jwt.audience] });
}

/** A page must see the tag to send it back as a precondition (H9). */
function corsOf(origins: readonly string[]) {
  return {
    allowOrigins: [...origins],
    allowMethods: [
      CorsHttpMethod.GET,
      CorsHttpMethod.HEAD,
      CorsHttpMethod.POST,
      CorsHttpMethod.PUT,
      CorsHttpMethod.PATCH,
      CorsHttpMethod.DELETE,
    ],
    allowHeaders: ["authorization", "content-type", "if-match", "if-none-match", "idempotency-key"],
    exposeHeaders: ["etag", "location", "retry-after"],
  };
}

/** Who asked for what, and what came of it; never a body. */
const accessLine = AccessLogFormat.custom(
  JSON.stringify({
    requestId: "$context.requestId",
    time: "$context.requestTime",
    ip: "$context.identity.sourceIp",
    caller: "$context.identity.userArn",
    method: "$context.httpMethod",
    path: "$context.path",
    status: "$context.status",
    bytes: "$context.responseLength",
    latencyMs: "$context.responseLatency",
    error: "$context.error.message",
    authorizerError: "$context.authorizer.error",
  }),
);
