import { Stack, Validations } from "aws-cdk-lib";
import type { IConstruct } from "constructs";

/** Says to whoever checks the app with cdk-nag why a finding on this construct is meant. */
export function acknowledge(construct: IConstruct, id: string, reason: string): void {
  Validations.of(construct).acknowledge({ id, reason });
}

/** The same for a resource with a wildcard in a role's policy: such a finding is known by the resource as cdk-nag writes it. */
export function acknowledgeWildcard(role: IConstruct, resource: string, reason: string): void {
  acknowledge(role, `AwsSolutions-IAM5[Resource::${plain(Stack.of(role).resolve(resource))}]`, reason);
}

/** References in angle brackets: `<Payloads.Arn>/*`. */
function plain(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  const [[kind, inside]] = Object.entries(value) as [[string, unknown]];
  if (kind === "Fn::Join") return (inside as [string, unknown[]])[1].map(plain).join((inside as [string])[0]);
  if (kind === "Fn::GetAtt") return `<${[inside].flat().join(".")}>`;
  return kind === "Ref" ? `<${String(inside)}>` : "";
}
