import { existsSync, readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, normalize } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { importsOf } from "../architecture/sources.ts";
import { installed } from "./stranger.ts";

describe("what is packed", () => {
  let home: string;
  let held: ReadonlySet<string>;
  let manifest: {
    readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>;
    readonly dependencies: Readonly<Record<string, string>>;
    readonly peerDependencies: Readonly<Record<string, string>>;
    readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
  };
  beforeAll(() => {
    home = installed();
    held = new Set(readdirSync(home, { recursive: true, encoding: "utf8" }));
    manifest = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  });

  /** Every file that is reached from these, with what it imports; of declarations, the declarations. */
  const reached = (entries: readonly string[]): ReadonlyMap<string, readonly string[]> => {
    const found = new Map<string, readonly string[]>();
    const open = [...entries];
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      if (found.has(file)) continue;
      const isTypes = file.endsWith(".d.ts");
      const imports = importsOf(file, readFileSync(join(home, file), "utf8")).map(({ to }) =>
        isTypes ? to.replace(/^(dist\/.*)\.[jt]s$/, "$1.d.ts") : to,
      );
      found.set(file, imports);
      open.push(...imports.filter((to) => to.startsWith("dist/")));
    }
    return found;
  };
  const packageOf = (to: string) => /^(?:@[^/]+\/)?[^/]+/.exec(to)?.[0] ?? to;
  const filesOf = (kind: "types" | "default") =>
    Object.values(manifest.exports).map((entry) => normalize(entry[kind] ?? ""));

  it("holds the functions, and no test, no example, no embedded stack", () => {
    const functions = ["coordinator", "worker", "watchdog", "api"].map((name) => `dist/functions/${name}.js`);
    expect([...held]).toEqual(expect.arrayContaining(functions));
    const stray =
      /^(?:lib|test|examples|benchmarks|node_modules)\b|^dist\/(?:examples|test|lib\/(?:local|cli))|functions\/dev|\.test\./;
    expect([...held].filter((file) => stray.test(file))).toEqual([]);
  });

  it("has types for every entry, and names them first", () => {
    expect(Object.keys(manifest.exports)).toContain(".");
    for (const [entry, files] of Object.entries(manifest.exports)) {
      expect(Object.keys(files), entry).toEqual(["types", "default"]);
      expect(Object.values(files).filter((file) => !held.has(normalize(file)))).toEqual([]);
    }
  });

  it("needs nothing that it does not bring: dependencies everywhere, the optional peers in the construct alone", () => {
    const functions = [...held].filter((file) => /^dist\/functions\/[^/]+\.js$/.test(file));
    const all = [reached([...filesOf("default"), ...functions]), reached(filesOf("types"))];
    expect(all.map(({ size }) => size > 60)).toEqual([true, true]);
    const { dependencies, peerDependencies, peerDependenciesMeta } = manifest;
    const strange = all.flatMap((files) =>
      [...files].flatMap(([file, imports]) =>
        imports
          .filter((to) => !to.startsWith("dist/") && !isBuiltin(to) && !(packageOf(to) in dependencies))
          // what the construct puts the stranger's own file in place of
          .filter((to) => to !== "#workflows" || !file.startsWith("dist/functions/"))
          .filter((to) => !(packageOf(to) in peerDependencies) || !file.startsWith("dist/cdk/"))
          .map((to) => `${file}: ${to}`),
      ),
    );
    expect(strange).toEqual([]);
    expect(Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional)).toEqual([]);
    const used = new Set(all.flatMap((files) => [...files.values()].flat().map(packageOf)));
    expect(Object.keys(dependencies).filter((name) => !used.has(name))).toEqual([]);
  });

  it("imports no file that is left out", () => {
    const code = [...held].filter((file) => /^dist\/.*\.js$/.test(file));
    const missing = code.flatMap((file) =>
      importsOf(file, readFileSync(join(home, file), "utf8"))
        .filter(({ to }) => to.startsWith("dist/") && !held.has(to))
        .map(({ to }) => `${file}: ${to}`),
    );
    expect(missing).toEqual([]);
  });

  it("has every page that its pages link to, but for those about the source", () => {
    const pages = [...held].filter((file) => file.endsWith(".md"));
    const ofTheSource = /^(?:ARCHITECTURE\.md|CONTRIBUTING\.md|(?:lib|test|examples)\/|examples$)/;
    const dead = pages.flatMap((page) =>
      [...readFileSync(join(home, page), "utf8").matchAll(/\]\(((?!https?:)[^)#]+)\)/g)]
        .map(([, to = ""]) => to)
        .map((to) => normalize(join(dirname(page), to)))
        .filter((to) => !ofTheSource.test(to) && !existsSync(join(home, to)))
        .map((to) => `${page}: ${to}`),
    );
    expect(dead).toEqual([]);
  });
});
