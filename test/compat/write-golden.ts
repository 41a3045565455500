/**
 * Writes what the tests of this folder compare with, for a new format: `node test/compat/write-golden.ts 2`. Never again for one that was
 * released: those bytes are in tables.
 */
import { access, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { middleNow, middleText, shapesNow } from "./golden.ts";

const format = process.argv[2] ?? "";
if (!/^\d+$/.test(format)) throw new Error("say which format: node test/compat/write-golden.ts 2");
const files = { shapes: `${JSON.stringify(await shapesNow(), undefined, 2)}\n`, middle: middleText(await middleNow()) };
for (const [name, text] of Object.entries(files)) {
  const path = join(import.meta.dirname, `${name}-${format}.json`);
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  if (isThere) throw new Error(`${path} is golden: what was released is never written again`);
  await writeFile(path, text);
  console.log(path);
}
