import { describe, expect, test } from "vitest";
import { createProject } from "../authoring/types/compiler.ts";
import { pages, read, root } from "./pages.ts";

interface Block {
  readonly page: string;
  readonly isFragment: boolean;
  readonly code: string;
  readonly first: string;
}

const blocks = pages.flatMap((page) =>
  [...read(page).matchAll(/```ts( fragment)?\n([\s\S]*?)```/g)].map(
    ([, fragment, code = ""]): Block => ({
      page,
      isFragment: fragment !== undefined,
      code,
      first: code.split("\n", 1)[0] ?? "",
    }),
  ),
);

/** What stands around a fragment, by the page and the fragment's first line. */
const contexts: Readonly<Record<string, readonly [before: string, after?: string]>> = {
  "README.md: const installation = connect({ tableName, queueBase, workflows: [sell] });": [
    `import { connect } from "tickwright/connect";
import { sell } from "ROOT/examples/first.ts";
declare const tableName: string;
declare const queueBase: string;`,
  ],
  "docs/authoring.md: const charge = step(": [
    `import * as v from "valibot";
import { step } from "tickwright";
declare function pay(orderId: string, cents: number, options: { idempotencyKey: string }): Promise<{ receiptId: string }>;`,
    "export { charge };",
  ],
  'docs/authoring.md: const approval = flow.gate("approval", { timeout: "2d", onTimeout: "reject" });': [
    `import type { Flow, Ref, Step } from "tickwright";
declare const flow: Flow;
declare const input: Ref<{ orderId: string }>;
declare const charge: Step<{ orderId: string }, { receiptId: string }>;`,
    "export { approval, paid };",
  ],
  "docs/authoring.md: const render = external(": [
    `import * as v from "valibot";
import { external } from "tickwright";
const input = v.object({ filmId: v.string() });
const output = v.object({ url: v.string() });
declare const farm: { accept(job: { filmId: string; token: string }): Promise<void> };`,
    "export { render };",
  ],
  'docs/versions.md: export const charge1 = step("charge", { input: sale, output: receipt }, chargeInOneCurrency);': [
    `import * as v from "valibot";
import { signal, step } from "tickwright";
const sale = v.object({ cents: v.number() });
const saleInCurrency = v.object({ cents: v.number(), currency: v.string() });
const receipt = v.object({ receiptId: v.string() });
declare function chargeInOneCurrency(sale: { cents: number }): { receiptId: string };
declare function chargeInAnyCurrency(sale: { cents: number; currency: string }): { receiptId: string };`,
  ],
  "docs/embedded-stack.md: const stack = await startStack({": [
    `import { startStack, type StackOptions } from "ROOT/lib/local/stack.ts";
declare const buildFunctions: StackOptions["functions"];`,
  ],
  "examples/film/README.md: const job = connection.external(token); // connect() of tickwright/connect": [
    `import type { Connection } from "tickwright/connect";
declare const connection: Connection;
declare const token: string;`,
  ],
};
const nameOf = ({ page, first }: Block) => `${page}: ${first}`;

/** What whole programs import that is theirs. */
const neighbours = {
  "workflows.ts":
    'import type { AnyWorkflow } from "tickwright";\nexport declare const workflows: readonly AnyWorkflow[];\n',
  "definitions.json": "{}",
};

async function complaintsOf(source: string): Promise<readonly string[]> {
  const project = createProject(source.replaceAll("ROOT/", root), ["node"], neighbours);
  try {
    const lines = (await project.complaints()).split("\n");
    return lines.filter((line) => line.startsWith("user.ts"));
  } finally {
    project.remove();
  }
}

describe("what the pages show of TypeScript compiles", () => {
  // docs/testing.md is one test file in pieces, and test/docs/testing.test.ts holds it to that
  const shown = blocks.filter(({ page }) => page !== "docs/testing.md");

  test.each(shown.filter(({ isFragment }) => !isFragment).map((block) => [nameOf(block), block] as const))(
    "%s, a whole program",
    async (_, { code }) => {
      expect(code).toMatch(/^(?:\/\/.*\n)?(?:import|export) /);
      expect(await complaintsOf(code)).toEqual([]);
    },
  );

  test.each(shown.filter(({ isFragment }) => isFragment).map((block) => [nameOf(block), block] as const))(
    "%s, a fragment",
    async (name, { code }) => {
      const [before, after = ""] = contexts[name] ?? [];
      expect(before, "a fragment needs its surroundings, in this file").toBeDefined();
      expect(await complaintsOf(`${before}\n${code}\n${after}`)).toEqual([]);
    },
  );

  test("no surroundings are left over", () => {
    const names = new Set(shown.map(nameOf));
    expect(Object.keys(contexts).filter((name) => !names.has(name))).toEqual([]);
  });

  test("a mistake in a program would be found", async () => {
    expect(await complaintsOf('import { step } from "tickwright";\nstep(1);\n')).toHaveLength(1);
  });
});
