import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Makes a state folder this process's own until `release`. The lock is a file with the holder's process id; one whose process is gone
 * (a crash, a reboot) is taken over. Throws, with the holder's id, if another stack runs on the folder.
 */
export function lockFolder(folder: string): { release(): void } {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "stack.lock");
  for (let tries = 0; tries < 2; tries++) {
    try {
      writeFileSync(file, String(process.pid), { flag: "wx" });
      return { release: () => rmSync(file, { force: true }) };
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EEXIST") throw error;
      const holder = holderOf(file);
      if (holder !== undefined) {
        throw new Error(
          `Another stack (process ${holder}) uses the folder ${folder}. Stop it, or give this one a folder of its own. ` +
            `If that process is something else, delete ${file}.`,
        );
      }
      rmSync(file, { force: true });
    }
  }
  throw new Error(`The lock ${file} is contended. Try again.`);
}

function holderOf(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, "utf8"));
    if (!Number.isInteger(pid) || pid <= 0) return undefined;
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    // EPERM: it lives, under another user.
    return (error as { code?: unknown }).code === "EPERM" ? Number(readFileSync(file, "utf8")) : undefined;
  }
}
