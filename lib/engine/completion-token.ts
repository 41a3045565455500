import { Fault } from "../core/faults.ts";
import type { Run } from "../core/run.ts";
import type { AttemptId } from "./records/attempt.ts";

/** What a completion token says: which attempt of which run, and the claim that proves it. */
export interface Claimed extends AttemptId {
  readonly tenant: string;
  readonly runId: string;
  readonly runUid: string;
  readonly token: string;
}

/** The token that a handler hands over: opaque to whoever carries it, and worthless but for this one attempt. */
export function tokenText(run: Pick<Run, "tenant" | "runId" | "runUid">, id: AttemptId, token: string): string {
  const parts = [run.tenant, run.runId, run.runUid, id.node, id.index, id.attempt, token];
  return btoa(parts.join("#")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** What a token says. Throws `bad-input` for what is none. */
export function claimedFrom(text: string): Claimed {
  const [tenant, runId, runUid, node, index, attempt, token] = decoded(text).split("#");
  if (tenant === undefined || runId === undefined || runUid === undefined || token === undefined) {
    throw new Fault("bad-input", "this is no completion token: pass context.token as it was given");
  }
  return { tenant, runId, runUid, token, node: Number(node), index: Number(index), attempt: Number(attempt) };
}

function decoded(text: string): string {
  try {
    return atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return "";
  }
}
