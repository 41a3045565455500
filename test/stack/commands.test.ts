import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { listenerAt } from "../../stack/endpoint.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const command = join(root, "stack/command.ts");

let server: Server | undefined;
afterEach(() => server?.close());

/** Answers every path with this. */
async function answering(body: string, status = 200): Promise<number> {
  server = createServer((_, response) => response.writeHead(status).end(body)).listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Not `spawnSync` where the command asks a server of this process. */
async function run(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [command, ...args], { cwd: root, env: { ...process.env, ...env } });
  let said = "";
  child.stdout.on("data", (text) => (said += text));
  child.stderr.on("data", (text) => (said += text));
  const [status] = await once(child, "close");
  return { status, said };
}

describe("what listens on a port", () => {
  it("is an emulator if its health lists its services", async () => {
    expect(await listenerAt(await answering('{"services":{"sqs":"available"}}'))).toBe("ministack");
  });

  it.each([
    ["says 200 to any path", "hi", 200],
    ["speaks JSON of its own", '{"status":"ok"}', 200],
    ["says null", "null", 200],
    ["fails", '{"services":{}}', 500],
  ])("is something else if it %s", async (_, body, status) => {
    expect(await listenerAt(await answering(body, status))).toBe("something else");
  });

  it("is nothing if nobody does", async () => {
    const port = await answering("");
    server?.close();
    await once(server as Server, "close");
    expect(await listenerAt(port)).toBe("nothing");
  });
});

describe("the commands", () => {
  it("do not start beside, or deploy to, whatever else has the port", async () => {
    const env = { TICKWRIGHT_STACK_PORT: String(await answering("hi")) };
    const up = await run(["up"], env);
    expect(up.status).toBe(1);
    expect(up.said).toContain("choose another port with TICKWRIGHT_STACK_PORT");
    const deployed = await run(["deploy"], env);
    expect(deployed.status).toBe(1);
    expect(deployed.said).toContain("npm run stack:up starts one");
  });

  it("say what to do where Docker is asked for and is not there", async () => {
    const port = await answering("");
    server?.close();
    await once(server as Server, "close");
    const env = { TICKWRIGHT_STACK_PORT: String(port), PATH: "/nowhere" };
    const { status, said } = await run(["up", "--with", "localstack"], env);
    expect(status).toBe(1);
    expect(said).toContain('take "--with python"');
  });

  it("show their help, and refuse a port that is none", () => {
    const { stdout } = spawnSync(process.execPath, [command, "--help"], { encoding: "utf8" });
    for (const verb of ["up", "deploy", "demo", "down"]) expect(stdout).toContain(`npm run stack:${verb}`);
    const env = { ...process.env, TICKWRIGHT_STACK_PORT: "x" };
    const { status, stderr } = spawnSync(process.execPath, [command, "up"], { encoding: "utf8", env });
    expect([status, stderr]).toEqual([1, "TICKWRIGHT_STACK_PORT is x: it must be a port, 1 to 65535.\n"]);
  });
});
