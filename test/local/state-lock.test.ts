import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { lockFolder } from "../../lib/local/state-lock.ts";

const folder = mkdtempSync(join(tmpdir(), "tickwright-lock-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("refuses a second stack on one folder and names the holder, until the first lets go", () => {
  const lock = lockFolder(folder);
  expect(() => lockFolder(folder)).toThrow(`Another stack (process ${process.pid})`);
  lock.release();
  lockFolder(folder).release();
});

it("takes over the lock of a process that is gone, and one that is torn", () => {
  for (const left of ["2147483646", "", "not a number"]) {
    lockFolder(folder).release();
    writeFileSync(join(folder, "stack.lock"), left);
    lockFolder(folder).release();
  }
});
