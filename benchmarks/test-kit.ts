import * as v from "valibot";
import { type Ref, step, workflow } from "../lib/index.ts";
import { testWorkflow } from "../lib/testing/index.ts";

/**
 * What a test in memory costs: a thousand runs of ten steps, one after the other, queued and inline. Prints operations a run, which
 * are the same on every machine, and time, which is not. `node benchmarks/test-kit.ts [runs]`
 */
const runs = Number(process.argv[2] ?? 1000);
const number = v.object({ n: v.number() });

for (const inline of [false, true]) {
  const plus = inline
    ? step("plus", { input: number, output: number, inline }, ({ n }) => ({ n: n + 1 }))
    : step("plus", { input: number, output: number }, ({ n }) => ({ n: n + 1 }));
  const ten = workflow("ten", { input: number }, (flow, input) => {
    let last: Ref<{ n: number }> = input;
    for (let at = 1; at <= 10; at++) last = flow.run(plus, { n: last.n }, { name: `plus-${at}` });
    return { n: last.n };
  });
  const begunAtMs = performance.now();
  const begun = process.cpuUsage();
  let requests = 0;
  let messages = 0;
  for (let at = 0; at < runs; at++) {
    const run = await testWorkflow(ten, { input: { n: at }, seed: at });
    if ((await run.end()) !== "succeeded" || run.output?.n !== at + 10) throw new Error(`run ${at}: ${run.status}`);
    requests += run.world.units.units().requests;
    messages += run.world.metrics.total("messages-sent");
  }
  const tookMs = performance.now() - begunAtMs;
  const cpuMs = process.cpuUsage(begun).user / 1000;
  const each = (sum: number) => (sum / runs).toFixed(1);
  console.log(
    `${inline ? "inline" : "queued"}: ${runs} runs of ten steps in ${(tookMs / 1000).toFixed(1)} s, ${(cpuMs / runs).toFixed(2)} ms of processor a run; ` +
      `${each(requests)} requests to the store and ${each(messages)} messages a run`,
  );
}
