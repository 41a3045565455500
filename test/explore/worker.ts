import { parentPort, workerData } from "node:worker_threads";
import { scopes } from "./scopes.ts";
import { explore, type SearchOptions } from "./search.ts";

/** What a worker thread is given: a scope by its name, and how to search it. */
export interface Job {
  readonly scope: string;
  readonly options: Omit<SearchOptions, "onProgress">;
}

const { scope: name, options } = workerData as Job;
const scope = scopes.find((each) => each.name === name);
if (!scope) throw new Error(`there is no scope ${name}`);
const explored = await explore(scope, {
  ...options,
  onProgress: (progress) => parentPort?.postMessage({ kind: "progress", progress }),
});
parentPort?.postMessage({ kind: "explored", explored });
