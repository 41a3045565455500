import { defineConfig } from "vitest/config";

/**
 * What Stryker's mutants are put to: the tests of the core and of the verbs, on memory and in virtual time, without the few that take
 * seconds. The rest (simulation, wire, processes, pages) would find more, an order of magnitude later: a mutant that survives here
 * is a question, not yet a hole.
 */
export default defineConfig({
  test: {
    root: process.cwd(),
    testTimeout: 20_000,
    pool: "threads",
    isolate: false,
    maxWorkers: 1,
    include: ["test/{core,engine,protocol,compat}/**/*.test.ts"],
    exclude: ["test/engine/{wide-map,sizes,sleep-until,units}.test.ts"],
  },
});
