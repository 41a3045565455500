import { codeOf, importsOf, type Sources } from "./sources.ts";

/** Who may not import what; prefixes of paths from the root, or of packages. */
export interface Rule {
  readonly room: string;
  readonly never?: readonly string[];
  /** Nothing but these. */
  readonly only?: readonly string[];
  /** Nothing of `lib` but these. */
  readonly ofLib?: readonly string[];
  readonly noGlobals?: RegExp;
}

const sdk = ["@aws-sdk/", "@middy/", "aws-lambda"];
const adapters = ["lib/aws/", "lib/local/", "lib/testing/"];
const outer = ["functions/", "cdk/", "examples/", "test/"];

/** Everything that reads a clock, a dice or the machine, or writes to it; a property may be called so. */
const world =
  /(?<![.\w])(?:Date|Math\.random|process|crypto|performance|console|fetch|setTimeout|setInterval|setImmediate|queueMicrotask)\b(?!\s*\??:)/g;

/** The house: every room with what it never imports. */
export const rules: readonly Rule[] = [
  { room: "lib/core/", only: ["lib/core/"], noGlobals: world },
  { room: "lib/ports.ts", only: ["lib/core/"] },
  { room: "lib/ports/", only: ["lib/core/", "lib/ports.ts", "lib/ports/"] },
  // a library, so it is not core's; needed by rooms that share nothing else
  { room: "lib/digest.ts", only: ["lib/core/", "@noble/hashes/"] },
  { room: "lib/index.ts", only: ["lib/authoring/", "lib/core/"] },
  { room: "lib/guard/", only: ["lib/core/", "lib/ports.ts", "lib/guard/"] },
  {
    room: "lib/engine/",
    only: ["lib/core/", "lib/ports.ts", "lib/ports/", "lib/digest.ts", "lib/guard/", "lib/engine/"],
    noGlobals: /\b(?:Date\.now|Math\.random|process\.|console\.|setTimeout|setInterval|performance\.)/g,
  },
  { room: "lib/authoring/", never: [...sdk, ...adapters, ...outer, "lib/engine/", "lib/http/", "node:"] },
  { room: "lib/events/", never: [...sdk, ...adapters, ...outer] },
  { room: "lib/http/", never: [...sdk, ...adapters, ...outer, "node:"] },
  { room: "lib/aws/", never: ["lib/engine/", "lib/http/", "lib/local/", "lib/testing/", "lib/authoring/", ...outer] },
  { room: "lib/local/", never: ["lib/engine/", "lib/http/", "lib/testing/", "lib/authoring/", ...outer] },
  { room: "lib/testing/", never: [...sdk, ...outer, "lib/aws/", "lib/local/", "lib/http/", "node:"] },
  // what people run on their own machines: joins the engine with the account's services, as functions do
  { room: "lib/tools/", never: [...outer, "lib/http/", "lib/local/", "lib/cli/"] },
  { room: "lib/cli/", never: [...sdk, ...adapters, ...outer, "lib/engine/"] },
  { room: "lib/console/", never: [...sdk, ...adapters, ...outer, "lib/engine/"] },
  { room: "functions/", never: ["functions/", "lib/testing/", "cdk/", "test/"] },
  {
    room: "cdk/",
    never: ["functions/", "examples/", "test/"],
    ofLib: [
      "lib/aws/names.ts",
      "lib/aws/wiring.ts",
      "lib/core/limits.ts",
      "lib/core/metrics.ts",
      "lib/core/queue-names.ts",
      "lib/digest.ts",
      // what the user's workflows ask of the functions
      "lib/authoring/groups.ts",
      "lib/authoring/registry.ts",
    ],
  },
  // a developer's tools: speak to what is deployed as users do
  { room: "stack/", never: ["test/", "functions/", "cdk/", "lib/local/", "lib/aws/", "lib/testing/"] },
  { room: "examples/", never: [...sdk, "cdk/", "stack/"] },
];

/** What breaks the rules, a sentence each. */
export function violations(sources: Sources): readonly string[] {
  return [...sources].flatMap(([file, text]) =>
    rules.filter(({ room }) => file.startsWith(room)).flatMap((rule) => violationsOf(rule, file, text)),
  );
}

function violationsOf({ never = [], only, ofLib, noGlobals }: Rule, file: string, text: string): readonly string[] {
  const startsWithAny = (to: string, prefixes: readonly string[]) => prefixes.some((prefix) => to.startsWith(prefix));
  const found = importsOf(file, text)
    .filter(
      ({ to }) =>
        startsWithAny(to, never) ||
        (only !== undefined && !startsWithAny(to, only)) ||
        (ofLib !== undefined && to.startsWith("lib/") && !startsWithAny(to, ofLib)),
    )
    .map(({ to }) => `${file} imports ${to}`);
  const globals = noGlobals ? [...codeOf(text).matchAll(noGlobals)].map(([name]) => `${file} uses ${name}`) : [];
  return [...found, ...globals];
}
