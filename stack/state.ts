import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../", import.meta.url));

/** Git-ignored: what is running, what was deployed, and what both have printed. */
const folder = join(root, ".local-stack");
const file = join(folder, "state.json");
export const logFile = join(folder, "endpoint.log");
export const outputsFile = join(folder, "outputs.json");

/** What `up` started, so that `down` stops that and nothing else. */
export type Started =
  | { readonly by: "process"; readonly pid: number; readonly port: number }
  | { readonly by: "compose"; readonly profile: string; readonly port: number };

export function remember(started: Started): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, JSON.stringify(started));
}

export function remembered(): Started | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Started;
  } catch {
    return undefined;
  }
}

export function forget(): void {
  rmSync(file, { force: true });
  rmSync(outputsFile, { force: true });
}

export function makeFolder(): void {
  mkdirSync(folder, { recursive: true });
}
