import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { envFor } from "./endpoint.ts";
import { root } from "./state.ts";

/** The version that everything here was tried with. */
const ministackVersion = "1.5.33";

const venv = join(root, ".venv");
const program = join(venv, "bin/ministack");
const marker = join(venv, `ministack-${ministackVersion}`);

/** Installs MiniStack into `.venv` if it is not there. Needs Python 3.10 or newer; takes half a minute the first time. */
export function installMinistack(say: (line: string) => void): void {
  if (existsSync(program) && (existsSync(marker) || versionOf() === ministackVersion)) return;
  say(`Installing MiniStack ${ministackVersion} into .venv, once: half a minute.`);
  run(
    "python3",
    ["-m", "venv", venv],
    "MiniStack needs Python 3.10 or newer with venv: install python3 and python3-venv, or start an endpoint of your own on the port.",
  );
  run(
    join(venv, "bin/pip"),
    ["install", "--quiet", "--disable-pip-version-check", `ministack==${ministackVersion}`],
    "pip could not install MiniStack: is there a way to PyPI from here?",
  );
}

function versionOf(): string | undefined {
  const { stdout } = spawnSync(join(venv, "bin/pip"), ["show", "--disable-pip-version-check", "ministack"], {
    encoding: "utf8",
  });
  return /^Version: (\S+)/m.exec(stdout ?? "")?.[1];
}

function run(command: string, args: readonly string[], advice: string): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${advice}\n${error?.message ?? stderr}`);
}

/** Starts it on loopback. With `isIamEnforced`, a function without a grant is refused as in AWS. */
export function spawnMinistack(options: {
  readonly port: number;
  readonly logFile: string;
  readonly isIamEnforced?: boolean;
  /** Outlives this process. */
  readonly isDetached?: boolean;
}): ChildProcess {
  const output = openSync(options.logFile, "w");
  const child = spawn(program, [], {
    env: {
      ...process.env,
      ...envFor(options.port),
      GATEWAY_PORT: String(options.port),
      BIND_HOST: "127.0.0.1",
      AUTH: options.isIamEnforced ? "true" : "false",
    },
    stdio: ["ignore", output, output],
    detached: options.isDetached ?? false,
  });
  if (options.isDetached) child.unref();
  return child;
}
