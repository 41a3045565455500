import { gunzipSync, gzipSync } from "node:zlib";

/**
 * Compression without the threads that the platform does it on: in a simulation nothing may come back in an order that no seed
 * decides. Stands in for the four globals that `lib/engine/zip.ts` uses; gives what puts them back.
 */
export function withoutThreads(): () => void {
  const kept = Object.fromEntries(names.map((name) => [name, (globalThis as Globals)[name]]));
  Object.assign(globalThis, { Blob: Bytes, CompressionStream: Zip, DecompressionStream: Unzip, Response: Whole });
  return () => void Object.assign(globalThis, kept);
}

const names = ["Blob", "CompressionStream", "DecompressionStream", "Response"] as const;
type Globals = { [name: string]: unknown };
type Through = { apply(bytes: Uint8Array): Uint8Array };

class Bytes {
  private readonly parts: readonly (string | Uint8Array)[];
  constructor(parts: readonly (string | Uint8Array)[]) {
    this.parts = parts;
  }
  stream() {
    const bytes = Buffer.concat(this.parts.map((part) => Buffer.from(part as Uint8Array)));
    return { pipeThrough: (through: Through) => through.apply(bytes) };
  }
}

class Zip implements Through {
  apply(bytes: Uint8Array): Uint8Array {
    return gzipSync(bytes, { level: 1 });
  }
}

class Unzip implements Through {
  apply(bytes: Uint8Array): Uint8Array {
    return gunzipSync(bytes);
  }
}

class Whole {
  private readonly bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
  async arrayBuffer() {
    return new Uint8Array(this.bytes).buffer;
  }
  async text() {
    return Buffer.from(this.bytes).toString("utf8");
  }
}
