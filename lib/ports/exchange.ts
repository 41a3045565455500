/** Who calls, as the authorizer in front of the API found out; never what a body says. */
export type Identity =
  /** A signed request: the principal's ARN. */
  | { readonly kind: "iam"; readonly arn: string }
  /** A token's checked claims. */
  | { readonly kind: "claims"; readonly claims: Readonly<Record<string, unknown>> }
  /** This machine's own developer. */
  | { readonly kind: "local"; readonly name: string };

/** A request, however it came. */
export interface HttpRequest {
  readonly method: string;
  /** Without the query; percent-encoded or not: ids need no encoding. */
  readonly path: string;
  /** Names in lower case: gateways differ in how they spell them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Absent: none. Base64 is undone already. */
  readonly body: string | undefined;
  /** Absent: nobody was authenticated. */
  readonly identity: Identity | undefined;
  /** The gateway's name for this request, for logs. */
  readonly requestId: string | undefined;
}

/** An answer, however it goes back. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}
