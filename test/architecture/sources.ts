import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** TypeScript files by path from the root, with their text. */
export type Sources = ReadonlyMap<string, string>;

export interface Import {
  /** A path from the root if it is a file of ours, a package otherwise. */
  readonly to: string;
  readonly isType: boolean;
}

export function readSources(...folders: readonly string[]): Sources {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  );
  const typescript = files.filter((file) => file.endsWith(".ts") && !file.includes("node_modules"));
  return new Map(typescript.sort().map((file) => [file, readFileSync(join(root, file), "utf8")]));
}

const statement = /^\s*(?:import|export)\s(type\s)?[^;"']*?from\s+["']([^"']+)["']/gm;
const bare = /^\s*import\s+["']([^"']+)["']/gm;
const dynamic = /\bimport\(\s*["']([^"']+)["']\s*\)/g;

/** Everything that a file imports or re-exports, in whatever form. */
export function importsOf(file: string, text: string): readonly Import[] {
  const code = withoutComments(text);
  const found = [
    ...[...code.matchAll(statement)].map(([, type, to = ""]) => ({ to, isType: type !== undefined })),
    ...[...code.matchAll(bare), ...code.matchAll(dynamic)].map(([, to = ""]) => ({ to, isType: false })),
  ];
  return found.map(({ to, isType }) => ({ to: to.startsWith(".") ? normalize(join(dirname(file), to)) : to, isType }));
}

/** The code alone: globals are looked for in it, and words in texts or comments are none. */
export function codeOf(text: string): string {
  return withoutComments(text).replace(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, '""');
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|(?<![:"'`\w])\/\/[^\n]*/g, (comment) => comment.replace(/[^\n]/g, ""));
}

/** Groups of files that reach each other by imports that are there at run time. */
export function cyclesOf(sources: Sources, options: { readonly withTypes: boolean }): readonly (readonly string[])[] {
  const next = new Map(
    [...sources].map(([file, text]) => [
      file,
      importsOf(file, text).flatMap(({ to, isType }) =>
        sources.has(to) && (options.withTypes || !isType) ? [to] : [],
      ),
    ]),
  );
  const reach = new Map([...next.keys()].map((file) => [file, reachable(file, next)]));
  const seen = new Set<string>();
  return [...next.keys()].flatMap((file) => {
    if (seen.has(file) || !reach.get(file)?.has(file)) return [];
    const cycle = [...next.keys()].filter((other) => reach.get(file)?.has(other) && reach.get(other)?.has(file));
    for (const member of cycle) seen.add(member);
    return [cycle];
  });
}

function reachable(from: string, next: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [...(next.get(from) ?? [])];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    open.push(...(next.get(file) ?? []));
  }
  return found;
}
