import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "tickwright-dev-"));
const dev = join(root, "functions/dev.ts");

/** `npm run dev -- --ephemeral`, and what it has printed so far. */
function startDev(...args: readonly string[]) {
  const child = spawn(process.execPath, [dev, "--ephemeral", ...args], { cwd: root });
  let told = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      told += chunk;
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  onTestFinished(() => void child.kill("SIGKILL"));
  return {
    ended,
    told: () => told,
    until: (words: string) => expect.poll(() => told, { timeout: 30_000, interval: 50 }).toContain(words),
    stop: () => child.kill("SIGINT"),
  };
}

describe("npm run dev", () => {
  afterAll(() => rmSync(folder, { recursive: true }));

  it("prints a command that wakes a run, and it does in a second shell", async () => {
    const running = startDev();
    await running.until("Stop with Ctrl-C.");
    const [command = ""] = /^ {2}node .*$/m.exec(running.told()) ?? [];
    const { status, stdout, stderr } = spawnSync("sh", ["-c", command], { cwd: root, encoding: "utf8" });
    expect([status, stdout], stderr).toEqual([0, expect.stringMatching(/^sent /)]);
    await running.until('"event":"run.missing","runId":"RUN-ID"');
    running.stop();
    expect(await running.ended).toBe(0);
  });

  it("prints what a bus would be told, if asked to", async () => {
    const file = join(folder, "order.json");
    const line = { sku: "lamp-oak-40", quantity: 2, unitCents: 8900 };
    const input = { orderId: "o-1", email: "a@mail.test", address: "street-1", card: "visa-4242", lines: [line] };
    writeFileSync(file, JSON.stringify([{ workflow: "order", runId: "o-1", input }]));
    const running = startDev("--events", "--quiet", "--start", file);
    await running.until('event {"kind":"run-finished","tenant":"default","runId":"o-1"');
    running.stop();
    expect(await running.ended).toBe(0);
  });

  it("says why it ends when the input of an example takes the process down", async () => {
    const file = join(folder, "runs.json");
    const line = { sku: "sku-crash", quantity: 1, unitCents: 100 };
    const input = { orderId: "o-1", email: "a@mail.test", address: "street-1", card: "card-1", lines: [line] };
    writeFileSync(file, JSON.stringify([{ workflow: "order", runId: "o-1", input }]));
    const running = startDev("--start", file);
    expect(await running.ended).toBe(137);
    expect(running.told()).toContain('o-1: its input takes the process of "reserve" down, once.');
  });

  it.each([
    [["--ephemerl"], "Unknown option '--ephemerl'"],
    [["--start", "nowhere.json"], "no such file or directory, open 'nowhere.json'"],
  ])("answers %s with the reason and the help", (args, reason) => {
    const { status, stderr } = spawnSync(process.execPath, [dev, ...args], { cwd: folder, encoding: "utf8" });
    expect(status).toBe(2);
    expect(stderr).toContain(reason);
    expect(stderr).toContain("--ephemeral       keep nothing");
    expect(stderr).not.toContain("    at ");
  });
});
