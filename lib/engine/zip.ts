/** Compressions under way. They take real time, which whoever plays with a virtual clock has to wait for. */
export const zipsUnderWay = new Set<Promise<unknown>>();

/** Text, as it is stored: gzipped. */
export function gzip(text: string): Promise<Uint8Array> {
  return noted(async () => {
    const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  });
}

/** The text of what {@link gzip} made. */
export function gunzip(bytes: Uint8Array): Promise<string> {
  return noted(() =>
    new Response(new Blob([bytes.slice()]).stream().pipeThrough(new DecompressionStream("gzip"))).text(),
  );
}

async function noted<T>(does: () => Promise<T>): Promise<T> {
  const job = does();
  zipsUnderWay.add(job);
  try {
    return await job;
  } finally {
    zipsUnderWay.delete(job);
  }
}
