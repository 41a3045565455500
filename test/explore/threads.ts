import { Worker } from "node:worker_threads";
import type { Explored, Progress, SearchOptions } from "./search.ts";
import type { Job } from "./worker.ts";

type Told =
  | { readonly kind: "progress"; readonly progress: Progress }
  | { readonly kind: "explored"; readonly explored: Explored };

/** Explores scopes, a thread each, so many at a time; tells of each as it ends. */
export async function exploreAll(
  names: readonly string[],
  options: Omit<SearchOptions, "onProgress">,
  tell: {
    readonly progress?: (scope: string, progress: Progress) => void;
    readonly explored: (explored: Explored) => void;
  },
  threads = 2,
): Promise<readonly Explored[]> {
  const open = [...names];
  const all: Explored[] = [];
  await Promise.all(
    Array.from({ length: threads }, async () => {
      for (let name = open.shift(); name !== undefined; name = open.shift()) {
        const scope = name;
        const explored = await inThread({ scope, options }, (progress) => tell.progress?.(scope, progress));
        all.push(explored);
        tell.explored(explored);
      }
    }),
  );
  return all;
}

function inThread(job: Job, onProgress: (progress: Progress) => void): Promise<Explored> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData: job });
    worker.on("message", (told: Told) => {
      if (told.kind === "progress") return onProgress(told.progress);
      resolve(told.explored);
      void worker.terminate();
    });
    worker.on("error", reject);
    worker.on("exit", (code) => reject(new Error(`the thread of ${job.scope} ended with ${code}`)));
  });
}
