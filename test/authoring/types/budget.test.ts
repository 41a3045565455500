import { expect, test } from "vitest";
import { inProject } from "./compiler.ts";

const libraries = {
  valibot: {
    head: 'import * as v from "valibot";',
    input: "v.object({ id: v.string(), n: v.number() })",
    output: "v.object({ id: v.string(), n: v.number(), ok: v.boolean() })",
  },
  zod: {
    head: 'import * as z from "zod";',
    input: "z.object({ id: z.string(), n: z.number() })",
    output: "z.object({ id: z.string(), n: z.number(), ok: z.boolean() })",
  },
  arktype: {
    head: 'import { type } from "arktype";',
    input: 'type({ id: "string", n: "number" })',
    output: 'type({ id: "string", n: "number", ok: "boolean" })',
  },
} as const;

/** A workflow of so many nodes: plain ones, conditional ones, scopes, maps and texts in turn. */
function source(library: keyof typeof libraries, nodes: number): string {
  const { head, input, output } = libraries[library];
  const lines = [
    head,
    'import { eq, gt, step, text, workflow } from "tickwright";',
    `const input = ${input};`,
    `const work = step("work", { input, output: ${output} }, ({ id, n }) => ({ id, n, ok: true }));`,
    'export const made = workflow("made", { input }, (flow, input) => {',
    '  const n0 = flow.run(work, input, { name: "n0" });',
  ];
  for (let at = 1; at < nodes; at++) {
    const name = `{ name: "n${at}" }`;
    const last = `n${at - 1}`;
    const bodies = [
      `flow.run(work, { id: ${last}.id, n: ${last}.n }, ${name})`,
      `flow.run(work, { id: text\`\${${last}.id} and \${input.n}\`, n: ${last}.n }, ${name})`,
      `flow.choose(flow.run(work, { id: ${last}.id, n: 1 }, { name: "n${at}", onFailure: "continue" }), "ok", { true: (done) => done.value, false: () => ({ id: "x", n: 1, ok: false }) })`,
      `flow.run(work, ${last}, ${name})`,
    ];
    lines.push(`  const n${at} = ${bodies[at % bodies.length]};`);
  }
  lines.push(
    `  flow.when(gt(input.n, 5), (inner) => inner.run(work, { id: n${nodes - 1}.id, n: 1 }, { name: "last" }));`,
  );
  lines.push(`  return { id: n${nodes - 1}.id, ok: eq(n${nodes - 1}.ok, true) };`, "});");
  return lines.join("\n");
}

// Counts, not seconds: they are the same on every machine. `most` holds for what the nodes add to a workflow of one.
test.each([
  ["valibot", 50, 9_000],
  ["valibot", 200, 35_000],
  ["valibot", 1000, 170_000],
  ["zod", 200, 35_000],
  ["arktype", 200, 35_000],
] as const)(
  "%s: %i nodes add no more than %i instantiations",
  async (library, nodes, most) => {
    const few = await inProject(source(library, 1), (project) => project.instantiations());
    const many = await inProject(source(library, nodes), async (project) => {
      expect(await project.complaints()).toBe("");
      return await project.instantiations();
    });
    expect(few).toBeGreaterThan(0);
    expect(many - few).toBeLessThan(most);
  },
  120_000,
);
