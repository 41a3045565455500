import { defineConfig } from "vitest/config";

const common = { testTimeout: 60_000, hookTimeout: 60_000, pool: "threads" as const };

/**
 * `unit` is what `npm test` runs. `stack` deploys to MiniStack, which has to be installed in `.venv`; `package` packs, installs
 * and uses the package as a stranger would.
 */
export default defineConfig({
  test: {
    // vitest leaves a core unused unless told; most of the time is spent waiting
    maxWorkers: 2,
    projects: [
      {
        test: {
          ...common,
          name: "unit",
          include: ["test/**/*.test.ts", "examples/**/*.test.ts"],
          exclude: ["test/stack/**", "test/package/**", "test/contract/endpoint/**"],
        },
      },
      { test: { ...common, name: "contract", include: ["test/contract/endpoint/ministack*.test.ts"] } },
      { test: { ...common, name: "aws", include: ["test/contract/endpoint/aws.test.ts"] } },
      { test: { ...common, name: "stack", include: ["test/stack/**/*.test.ts"] } },
      {
        test: {
          ...common,
          name: "package",
          include: ["test/package/**/*.test.ts"],
          globalSetup: ["test/package/setup.ts"],
        },
      },
    ],
  },
});
