import type { Build } from "./build.ts";

const stackKey = Symbol.for("tickwright.builds");
const shared = globalThis as { [stackKey]?: Build[] };
/** The builds that are going on: one, or more where a workflow is defined inside another's function. */
const builds: Build[] = shared[stackKey] ?? [];
shared[stackKey] = builds;

/** The build whose workflow function is being called, if any. */
export function currentBuild(): Build | undefined {
  return builds.at(-1);
}

/** Calls `body` while `build` is the current one. */
export function building<R>(build: Build, body: () => R): R {
  builds.push(build);
  try {
    return body();
  } finally {
    builds.pop();
  }
}
