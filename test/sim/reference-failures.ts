import type { MapNode, NodeDef, WorkBody } from "../../lib/core/definition.ts";
import type { Scene } from "./checkers/checker.ts";

/** More tries than any storm takes. */
const patientFrom = 20;

/** Whether something that happened outside could have made a node fail like this. */
export function mayFailWith(scene: Scene, def: NodeDef, code: string): boolean {
  switch (def.kind) {
    case "gate":
      return (
        code === "rejected" || (code === "timed-out" && def.timeoutMs !== undefined && def.onTimeout === undefined)
      );
    case "signal":
      return code === "timed-out" && def.timeoutMs !== undefined && def.onTimeout !== "continue";
    case "sleep":
      return false;
    case "child":
      return code === "child-failed";
    case "map":
      // there may be no list to take items from: what would have yielded it was skipped
      return code === "item-failures" || code === "missing-value";
    default:
      return mayWorkFail(scene, def, code);
  }
}

export function mayItemFail(scene: Scene, def: MapNode, code: string): boolean {
  if (def.body.kind === "child") return code === "child-failed";
  // processes whose clocks are far apart close again and again what others open again, until its deliveries are used up
  return mayWorkFail(scene, def.body, code) || (code === "cancelled" && scene.world.profile.isBeyondSlack === true);
}

function mayWorkFail({ world }: Scene, body: WorkBody, code: string): boolean {
  const [kind] = body.handler.split("@");
  const isPatient = body.retry.attempts >= patientFrom;
  switch (code) {
    case "fatal":
      return kind === "fails";
    case "handler-failed":
      return !isPatient && (kind === "flaky" || kind === "begin");
    case "lost":
      return !isPatient;
    case "timed-out":
      // what goes on outside may take longer than it may, again and again
      return !isPatient || kind === "begin";
    case "never-claimed":
      return (
        body.startWithinMs !== undefined ||
        world.profile.isBeyondSlack === true ||
        (world.counts.get("metric:deliveries-lost") ?? 0) >= 1
      );
    default:
      return false;
  }
}
