import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import { createProject, tsc } from "./compiler.ts";

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: unknown;
}

/** What an editor shows where each of these texts first stands in the source. */
export async function hoversOf(source: string, texts: readonly string[]): Promise<readonly string[]> {
  const project = createProject(source);
  const server = spawn(process.execPath, [tsc, "--lsp", "--stdio"], { cwd: project.folder });
  const answers = new Map<number, (result: unknown) => void>();
  let pending = Buffer.alloc(0);
  const send = (message: object) => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  const receive = (message: Message) => {
    if (message.method === undefined) answers.get(message.id ?? -1)?.(message.result);
    // the server asks for settings and the like: it gets none
    else if (message.id !== undefined)
      send({ id: message.id, result: message.method === "workspace/configuration" ? [] : null });
  };
  server.stdout.on("data", (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    for (;;) {
      const head = pending.indexOf("\r\n\r\n");
      const length = Number(/Content-Length: (\d+)/.exec(pending.subarray(0, Math.max(head, 0)).toString())?.[1]);
      if (head < 0 || pending.length < head + 4 + length) return;
      const body = pending.subarray(head + 4, head + 4 + length).toString();
      pending = pending.subarray(head + 4 + length);
      receive(JSON.parse(body) as Message);
    }
  });
  let last = 0;
  const ask = (method: string, params: object) =>
    new Promise<unknown>((resolve) => {
      last += 1;
      answers.set(last, resolve);
      send({ id: last, method, params });
    });
  try {
    const uri = pathToFileURL(project.file).href;
    await ask("initialize", { processId: null, rootUri: pathToFileURL(project.folder).href, capabilities: {} });
    send({ method: "initialized", params: {} });
    send({
      method: "textDocument/didOpen",
      params: { textDocument: { uri, languageId: "typescript", version: 1, text: source } },
    });
    const hovers: string[] = [];
    for (const text of texts) {
      const before = source.slice(0, source.indexOf(text)).split("\n");
      const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
      const hover = (await ask("textDocument/hover", { textDocument: { uri }, position })) as {
        readonly contents?: { readonly value?: string };
      } | null;
      hovers.push((hover?.contents?.value ?? "").replace(/^```\w+\n/, "").replace(/\n```[\s\S]*$/, ""));
    }
    return hovers;
  } finally {
    server.kill();
    project.remove();
  }
}
