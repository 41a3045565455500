/** Text, as it is stored: gzipped. */
export async function gzip(text: string): Promise<Uint8Array> {
  return new Uint8Array(
    await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer(),
  );
}

/** The text of what {@link gzip} made. */
export async function gunzip(bytes: Uint8Array): Promise<string> {
  return await new Response(new Blob([bytes.slice()]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
