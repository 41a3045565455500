import type { Run } from "../../../lib/core/run.ts";
import { committed } from "../journal.ts";
import { attempts } from "./attempts.ts";
import { carriers } from "./carriers.ts";
import type { Checker, Scene } from "./checker.ts";
import { coverage } from "./coverage.ts";
import { doings } from "./doings.ts";
import { dues } from "./dues.ts";
import { forceFails } from "./force-fails.ts";
import { formats } from "./formats.ts";
import { gates } from "./gates.ts";
import { leavings } from "./leavings.ts";
import { results } from "./results.ts";
import { signals } from "./signals.ts";
import { terminal } from "./terminal.ts";
import { timers } from "./timers.ts";
import { versions } from "./versions.ts";
import { writes } from "./writes.ts";

/** Everybody who looks for something that must never be. */
export interface Watch {
  /** In fair weather, now and then. */
  sweep(): void;
  /** After everything has come to its end. */
  atEnd(): Promise<void>;
}

export function standWatch(scene: Scene): Watch {
  const { world } = scene;
  const all = [
    versions,
    terminal,
    attempts,
    dues,
    results,
    forceFails,
    signals,
    gates,
    writes,
    formats,
    timers,
    doings,
    carriers,
    leavings,
    coverage,
  ];
  const checkers = all.map((make): Checker => make(scene));
  world.onChange.unshift((change) => {
    const commit = committed(change, world.rows);
    // a stranger's commit is not the engine's to be held against
    if (commit?.is && !change.by) return void world.rows.set(change.write.key.pk, commit.is);
    for (const checker of checkers) checker.onChange?.(change);
    if (!commit) return;
    for (const checker of checkers) checker.onCommit?.(commit);
    if (commit.is) world.rows.set(change.write.key.pk, commit.is);
    else world.rows.delete(change.write.key.pk);
  });
  return {
    sweep() {
      for (const checker of checkers) checker.onSweep?.();
    },
    async atEnd() {
      const runs: readonly Run[] = [...world.rows.values()];
      for (const run of runs) for (const checker of checkers) await checker.atEnd?.(run);
    },
  };
}
