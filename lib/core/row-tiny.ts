import { ByteReader, ByteWriter, bytesToHex, hexToBytes } from "./bytes.ts";
import type { Run, TinyOutput } from "./run.ts";

const kinds = ["value", "payload", "fault"] as const;

/** Tiny outputs as they stand on the row and, spilled together, on a page: about ten bytes each beside their text. */
export function writeTiny(run: Pick<Run, "tiny" | "createdAtMs">): Uint8Array {
  const out = new ByteWriter();
  for (const output of run.tiny) {
    out.uint(output.node + 1);
    out.uint(output.attempt * 4 + kinds.indexOf(output.kind));
    out.uint(Math.max(0, output.startedAtMs - run.createdAtMs));
    out.uint(Math.max(0, output.endedAtMs - output.startedAtMs));
    if (output.kind === "payload") out.raw(hexToBytes(output.text));
    else out.text(output.text);
  }
  return out.done();
}

export function readTiny(bytes: Uint8Array, createdAtMs: number): readonly TinyOutput[] {
  const input = new ByteReader(bytes);
  const outputs: TinyOutput[] = [];
  while (!input.isAtEnd) {
    const node = input.uint() - 1;
    const attempt = input.uint();
    const startedAtMs = createdAtMs + input.uint();
    const endedAtMs = startedAtMs + input.uint();
    const kind = kinds[attempt % 4] ?? "value";
    outputs.push({
      node,
      kind,
      attempt: Math.floor(attempt / 4),
      startedAtMs,
      endedAtMs,
      text: kind === "payload" ? bytesToHex(input.raw(8)) : input.text(),
    });
  }
  return outputs;
}
