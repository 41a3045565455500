import { beforeAll, describe, expect, it } from "vitest";
import { hovers, libraries, shopWith } from "./programs.ts";
import { compilers, createStranger, settings } from "./stranger.ts";

/** A mistake in the body of a workflow, and what the compiler says: where (the word at fault), its code, and the words that help. */
const mistakes = {
  "a wrong type": {
    body: "flow.run(charge, { orderId: input.orderId, cents: input.orderId });",
    at: "cents: input",
    says: [/^error TS2322: Type 'Ref<string>' is not assignable to type 'Arg<number>'\.$/],
  },
  "a missing field": {
    body: "flow.run(charge, { orderId: input.orderId });",
    at: "{ orderId",
    says: [/^error TS2345: /, /Property 'cents' is missing in type '\{ orderId: Ref<string>; \}' but required/],
  },
  "a misspelt field": {
    body: "return { id: flow.run(ship, { receiptId: 'r', at: 'now' }).trakingId };",
    at: "trakingId",
    says: [
      /^error TS2551: Property 'trakingId' does not exist on type 'Ref<\{ trackingId: string; \}>'\. Did you mean 'trackingId'\?$/,
    ],
  },
  "what may be missing": {
    body: "flow.run(charge, { orderId: input.note, cents: 1 });",
    at: "orderId: input",
    says: [
      /^error TS2322: Type 'Ref<string \| undefined>' is not assignable to type 'Arg<string>'\.$/,
      /Type 'undefined' is not assignable to type 'string'\.$/,
    ],
  },
  "a reference in a template": {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source of a user's file
    body: "flow.run(charge, { orderId: `no ${input.orderId}`, cents: 1 });",
    at: "input.orderId}",
    says: [/^error TS2731: Implicit conversion of a 'symbol' to a 'string' will fail at runtime\./],
  },
  "a reference as a condition": {
    body: "if (input.orderId) flow.run(charge, { orderId: 'o', cents: 1 });",
    at: "input.orderId)",
    says: [/^error TS2774: This condition will always return true since this function is always defined\./],
  },
} as const;

const programOf = (body: string) =>
  `import { workflow } from "tickwright";
import { sale } from "./schemas.ts";
import { charge, ship } from "./steps.ts";
export const uses = [charge, ship];
export const sell = workflow("sell", { input: sale }, (flow, input) => {
  ${body}
  return { id: input.orderId };
});
`;

const named = Object.entries(mistakes).map(([name, mistake]) => ({
  name,
  file: name.replaceAll(" ", "-"),
  ...mistake,
}));

/** Complaints by file, each with its place and the lines that belong to it. */
function byFile(lines: readonly string[]) {
  const found = new Map<string, { place: string; said: string[] }[]>();
  let last: { place: string; said: string[] } | undefined;
  for (const line of lines) {
    const [, file, place, said] = /^(\S+)\((\d+,\d+)\): (.*)$/.exec(line) ?? [];
    if (file === undefined) {
      last?.said.push(line.trim());
      continue;
    }
    last = { place: place ?? "", said: [said ?? ""] };
    found.set(file, [...(found.get(file) ?? []), last]);
  }
  return found;
}

describe.each(compilers)("with TypeScript %s", (compiler) => {
  let complaints: ReturnType<typeof byFile>;
  beforeAll(() => {
    const files = libraries.flatMap((library) => [
      ...Object.entries(shopWith(library)).map(([file, text]) => [`${library}/${file}`, text] as const),
      ...named.map(({ file, body }) => [`${library}/${file}.ts`, programOf(body)] as const),
    ]);
    const stranger = createStranger(`mistakes-${compiler}`, Object.fromEntries(files));
    const paths = files.map(([path]) => path).filter((path) => !path.endsWith(".test.ts"));
    complaints = byFile(stranger.complaints(compiler, { ...settings.strictest, skipLibCheck: true }, paths));
  }, 60_000);

  describe.each(libraries)("and %s", (library) => {
    it.each(named)("$name is said in one complaint, at the word itself", ({ file, body, at, says }) => {
      const found = complaints.get(`${library}/${file}.ts`) ?? [];
      expect(found.map(({ place }) => place)).toEqual([`6,${3 + body.indexOf(at)}`]);
      for (const words of says) expect(found[0]?.said).toContainEqual(expect.stringMatching(words));
    });
  });

  it("complains of nothing else", () => {
    expect(complaints.size).toBe(libraries.length * named.length);
  });
});

it.each(libraries)("an editor with TypeScript 5.9 shows what a node, a field and a scope are (%s)", (library) => {
  const config = JSON.stringify({ compilerOptions: settings.strictest });
  const files = { ...shopWith(library), "hovers.mjs": hovers, "tsconfig.json": config };
  const stranger = createStranger(`hovers-${library}`, files);
  expect(stranger.node("hovers.mjs", "workflow.ts", "sent = flow", "trackingId, by", "by = flow").split("\n")).toEqual([
    "const sent: Ref<{ trackingId: string; }>",
    "(property) trackingId: Ref<string>",
    "const by: Ref<string>",
    "",
  ]);
});
