import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));

/** Every page for readers, by its path from the root. */
export const pages: readonly string[] = [
  ...readdirSync(root),
  ...["docs", "examples", "benchmarks"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  ),
].filter((path) => path.endsWith(".md"));

export const read = (path: string): string => readFileSync(join(root, path), "utf8");
