import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { rules, violations } from "./architecture/rules.ts";
import { cyclesOf, importsOf, readSources, type Sources } from "./architecture/sources.ts";

const product = readSources("lib", "functions", "cdk", "stack", "examples");
const all = readSources("lib", "functions", "cdk", "stack", "examples", "test");
const lines = (text = "") => text.split("\n").length - 1;
const within = (room: string, sources: Sources = product) =>
  [...sources.keys()].filter((file) => file.startsWith(room));

describe("the house", () => {
  it("imports only in the directions of its table", () => {
    expect(violations(product)).toEqual([]);
  });

  it("is seen as it is: files in every room, and every import of a file of ours leads to one", () => {
    expect(product.size).toBeGreaterThan(200);
    const empty = rules.map(({ room }) => room).filter((room) => within(room).length === 0);
    expect(empty.filter((room) => !["lib/events/", "lib/console/"].includes(room))).toEqual([]);
    const imports = [...all].flatMap(([file, text]) => importsOf(file, text).map(({ to }) => to));
    expect(imports.length).toBeGreaterThan(1000);
    // the texts of strangers are in test/package
    const ours = imports.filter((to) => /^(?:lib|functions|cdk|stack|examples|test(?!\/package))\//.test(to));
    expect(ours.filter((to) => !all.has(to) && !to.endsWith(".json"))).toEqual([]);
    // as many as a plain look at the text finds, so that no form of import goes unseen
    const plain = [...product.values()].join("\n").match(/^(?:import|export|\}) .*from "/gm)?.length;
    expect([...product].flatMap(([file, text]) => importsOf(file, text)).length).toBeGreaterThanOrEqual(plain ?? 0);
  });

  it.each([
    ["lib/core/planted.ts", 'import { z } from "zod";'],
    ["lib/core/planted.ts", 'import type { Engine } from "../engine/engine.ts";'],
    ["lib/core/planted.ts", 'export {\n  a,\n  b,\n} from "../digest.ts";'],
    ["lib/core/planted.ts", 'const it = await import("node:fs");'],
    ["lib/core/planted.ts", "const at = Date.now();"],
    ["lib/core/planted.ts", "const at = new Date();"],
    ["lib/core/planted.ts", "const chance = Math.random();"],
    ["lib/core/planted.ts", "setTimeout(go, 1);"],
    ["lib/core/planted.ts", "console.log(1);"],
    ["lib/core/planted.ts", 'const home = process.env["HOME"];'],
    ["lib/core/planted.ts", "const id = crypto.randomUUID();"],
    ["lib/engine/planted.ts", 'import { SQSClient } from "@aws-sdk/client-sqs";'],
    ["lib/engine/planted.ts", 'import "node:crypto";'],
    ["lib/engine/planted.ts", 'import { x } from "../testing/world.ts";'],
    ["lib/guard/planted.ts", 'import { x } from "../engine/commit.ts";'],
    ["lib/authoring/planted.ts", 'import { x } from "../engine/engine.ts";'],
    ["lib/http/planted.ts", 'import { createSqsQueue } from "../aws/sqs-queue.ts";'],
    ["lib/http/planted.ts", 'import { Buffer } from "node:buffer";'],
    ["lib/aws/planted.ts", 'import type { X } from "../engine/engine.ts";'],
    ["lib/local/planted.ts", 'import { handler } from "../../functions/worker.ts";'],
    ["lib/testing/planted.ts", 'import { x } from "../aws/names.ts";'],
    ["lib/cli/planted.ts", 'import { x } from "../engine/engine.ts";'],
    ["functions/planted.ts", 'import { handler } from "./worker.ts";'],
    ["stack/planted.ts", 'import { x } from "../test/stack/emulator.ts";'],
    ["cdk/planted.ts", 'import { x } from "../lib/engine/engine.ts";'],
  ])("would find, in %s: %s", (file, text) => {
    expect(violations(new Map([[file, text]]))).toHaveLength(1);
  });

  it("has no room for what belongs nowhere", () => {
    const names = [...all.keys()].map((file) => basename(file).replace(/\..*$/, ""));
    expect(names.filter((name) => /^(?:utils?|helpers?|common|misc|types)$/.test(name))).toEqual([]);
    const atRoot = within("lib/").filter((file) => file.split("/").length === 2);
    expect(atRoot).toEqual(["lib/digest.ts", "lib/index.ts", "lib/ports.ts"]);
  });

  it("goes round in circles at run time only where a run starts runs", () => {
    // creating a run does what it owes, and that may be a child: the recursion is the domain's
    const known = [["lib/engine/children.ts", "lib/engine/perform.ts", "lib/engine/slices.ts", "lib/engine/start.ts"]];
    expect(cyclesOf(product, { withTypes: false })).toEqual(known);
    const planted = new Map([
      ["lib/core/a.ts", 'import { b } from "./b.ts";'],
      ["lib/core/b.ts", 'import { a } from "./a.ts";'],
    ]);
    expect(cyclesOf(planted, { withTypes: false })).toHaveLength(1);
  });
});

describe("a newcomer", () => {
  it("reads how a wake-up is processed on under 500 lines", () => {
    const path = [
      "lib/core/run.ts",
      "lib/core/tick.ts",
      "lib/core/owed.ts",
      "lib/engine/coordinate.ts",
      "functions/coordinator.ts",
    ];
    expect(path.map((file) => lines(product.get(file))).reduce((sum, count) => sum + count, 0)).toBeLessThan(500);
  });

  it("finds a docblock on whatever a public entry exports", () => {
    const entries = [
      "lib/index.ts",
      "lib/guard/index.ts",
      "lib/testing/index.ts",
      "lib/tools/connect.ts",
      "lib/tools/deploy.ts",
      "cdk/tickwright.ts",
    ];
    const exported = entries.flatMap((entry) => exportsOf(entry));
    expect(exported.length).toBeGreaterThan(80);
    expect(exported.filter(({ name, file }) => !isDocumented(name, product.get(file) ?? ""))).toEqual([]);
  });

  it("meets files that are short", () => {
    const lengths = [...product].map(([file, text]) => ({ file, length: lines(text) }));
    const median = lengths.map(({ length }) => length).sort((a, b) => a - b)[Math.floor(lengths.length / 2)];
    const long = lengths.filter(({ length }) => length > 250);
    console.info(
      `${lengths.length} files, half of them under ${median} lines; over 250: ${long.map(({ file }) => file)}`,
    );
    expect(median).toBeLessThanOrEqual(90);
    expect(lengths.filter(({ file, length }) => file.startsWith("lib/") && length > 300)).toEqual([]);
  });
});

/** What an entry hands on from other files, and what it declares itself. */
function exportsOf(entry: string): readonly { readonly name: string; readonly file: string }[] {
  const text = product.get(entry) ?? "";
  const handedOn = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from "([^"]+)"/gm)].flatMap(
    ([, names = "", from = ""]) =>
      names
        .split(",")
        .map((name) => name.trim().replace(/^type /, ""))
        .filter((name) => name !== "")
        .map((name) => ({ name, file: join(entry, "..", from) })),
  );
  const own = [...text.matchAll(declared)].map(([, name = ""]) => ({ name, file: entry }));
  return [...handedOn, ...own];
}

const declared = /^export (?:async )?(?:const|function|class|interface|type) (\w+)/gm;

function isDocumented(name: string, text: string): boolean {
  return new RegExp(`\\*/\\nexport (?:async )?(?:const|function|class|interface|type) ${name}\\b`).test(text);
}
