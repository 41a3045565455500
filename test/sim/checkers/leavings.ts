import { partitionOf, sk } from "../../../lib/core/keys.ts";
import { mailboxFrom } from "../../../lib/core/mail-format.ts";
import { isLive, type Run } from "../../../lib/core/run.ts";
import type { Committed } from "../journal.ts";
import type { Checker, Scene } from "./checker.ts";

const minuteMs = 60_000;

/** What a run leaves: nothing that stood beside it once it is purged, and no child that nobody told that its parent has ended. */
export function leavings({ world }: Scene): Checker {
  const writtenAtMs = new Map<string, number>();

  function checkPurged({ write, before, now, was, by }: Committed): void {
    if (!before || now || !was || isLive(was) || !by) return;
    const kinds = ["ATT", "IN", "OUT", "ITEM"].map((kind) => `${kind}#${was.runUid.slice(0, 8)}`);
    for (const { pk, sk: name } of world.store.snapshot()) {
      if (pk !== write.key.pk || !kinds.some((kind) => name.startsWith(kind))) continue;
      // whoever was held up may still write what nobody will read
      if ((writtenAtMs.get(`${pk} ${name}`) ?? 0) < by.beganAtMs)
        world.violate(2, `${pk} was purged, and ${name} is still there`);
    }
    const stored = [...world.payloads.names()].filter((name) => name.includes(`/${was.runUid}/`));
    if (stored.length > 0) world.violate(2, `${write.key.pk} was purged, and ${stored[0]} is still there`);
  }

  function parentOf(run: Run): Run | undefined {
    const record = world.store.peek({ pk: partitionOf(run.tenant, run.runId), sk: sk.input(run.runUid) });
    const text = record?.["parent"];
    const link =
      typeof text === "string" ? (JSON.parse(text) as { readonly runId: string; readonly runUid: string }) : undefined;
    const parent = link && world.rows.get(partitionOf(run.tenant, link.runId));
    return parent?.runUid === link?.runUid ? parent : undefined;
  }

  return {
    onCommit: checkPurged,
    onChange({ write, atMs }) {
      writtenAtMs.set(`${write.key.pk} ${write.key.sk}`, atMs);
    },
    atEnd(run) {
      if (!run.hasParent || run.phase === "cancelled" || run.phase === "terminated") return;
      const parent = parentOf(run);
      if (!parent || isLive(parent)) return;
      // as long as nothing can be sent nobody can be told
      const laterMs = (run.endedAtMs ?? 0) - Math.max(parent.endedAtMs ?? 0, world.weather.overAtMs);
      const mail = world.store.peek({ pk: partitionOf(run.tenant, run.runId), sk: sk.mail(run.runUid) });
      const wasTold = mail !== undefined && mailboxFrom(mail).commandNext > 0;
      if (laterMs > 30 * minuteMs + 4 * world.profile.skewMs && !wasTold)
        world.violate(
          4,
          `${run.runId} went on for ${Math.round(laterMs / minuteMs)} min after its parent had ended, and nobody told it`,
        );
    },
  };
}
