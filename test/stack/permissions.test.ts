import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deadTaskQueue, taskQueue, wakeQueue } from "../../lib/core/queue-names.ts";
import { type Ask, createApiClient } from "../../stack/api-client.ts";
import { concede, deploy, type Emulator, startEmulator } from "./emulator.ts";
import { type Touring, touring } from "./touring.ts";

const appFile = fileURLToPath(new URL("./probe-app.ts", import.meta.url));

/** What everyone who ticks may do. */
const ticking = ["put", "edit", "refused put", "read one", "read two", "list"];
const sendingTo = (...queues: string[]) => queues.flatMap((queue) => [`send to ${queue}`, `look at ${queue}`]);
const payloads = ["put payload", "get payload", "miss payload"];
const worker = [...ticking, ...payloads, ...sendingTo("wake:standard", "task:default", "task:mail", "dead")];

describe("the deployed stack, with IAM enforced", () => {
  let emulator: Emulator;
  let here: Touring;
  let ask: Ask;

  beforeAll(async () => {
    emulator = await startEmulator({ isIamEnforced: true });
    const outputs = deploy(emulator, appFile, { change: concede });
    here = touring(emulator, outputs, []);
    ask = createApiClient(outputs["Tickwright"]?.["ApiUrl"] ?? "", emulator.port);
  }, 300_000);
  afterAll(async () => {
    here?.close();
    await emulator?.stop();
  });

  async function allowedTo(role: string, timeoutMs = 30_000): Promise<string[]> {
    for (const endsAtMs = performance.now() + timeoutMs; performance.now() < endsAtMs; ) {
      const [found] = await here.engine.store.read([{ pk: "probes", sk: role }], { isConsistent: true });
      if (found) {
        const can = JSON.parse(String(found["can"])) as Record<string, string>;
        const verdicts = new Set(Object.values(can));
        expect(verdicts).toEqual(new Set(["yes", "denied"]));
        return Object.keys(can).filter((what) => can[what] === "yes");
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    throw new Error(`No probe of ${role}: ${emulator.log().slice(-4000)}`);
  }

  it.each([
    [
      "coordinator",
      wakeQueue("standard"),
      [...worker, ...sendingTo("watch"), "take from wake:standard", "take from watch"],
    ],
    ["worker of mail", taskQueue("mail"), [...worker, "take from task:mail"]],
    [
      "dead tasks' function",
      deadTaskQueue,
      [...ticking, ...sendingTo("wake:standard", "dead-task", "dead"), "take from dead-task"],
    ],
  ])("lets the %s do what its verb does, and no more", async (role, queue, expected) => {
    await here.send(queue, `as ${role}`);
    const allowed = await allowedTo(role);
    // Looking at a queue comes with taking from it.
    expect(allowed.filter((what) => what !== `look at ${queue}`).sort()).toEqual(
      expected.filter((what) => what !== `look at ${queue}`).sort(),
    );
  });

  it("lets the api start, show and wake runs, and neither look at queues nor take from them", async () => {
    expect((await ask("POST", "/probe", { body: {} })).status).toBe(204);
    const sending = ["wake:standard", "task:default", "task:mail"].map((queue) => `send to ${queue}`);
    expect((await allowedTo("api")).sort()).toEqual([...ticking, ...payloads, ...sending].sort());
  });

  it("lets nobody in who does not sign", async () => {
    expect((await ask("GET", "/runs/any", { isSigned: false })).status).toBe(403);
  });

  it("calls the watchdog on its schedule", async () => {
    const expected = [...ticking, "find the due", ...sendingTo("wake:standard", "watch")];
    expect((await allowedTo("scheduled", 110_000)).sort()).toEqual(expected.sort());
  }, 120_000);
});
