import { afterAll, beforeAll } from "vitest";
import type { ClientOptions } from "../../../lib/aws/clients.ts";
import { type Emulator, hasEmulator, startEmulator } from "../../stack/emulator.ts";

/** MiniStack for the tests of a file. Where it is not installed the file fails, and says how it is installed: nothing is skipped here. */
export function useMiniStack(): () => ClientOptions {
  if (!hasEmulator)
    throw new Error("MiniStack is missing: python3 -m venv .venv && .venv/bin/pip install ministack==1.5.33");
  let emulator: Emulator;
  beforeAll(async () => {
    emulator = await startEmulator();
  }, 60_000);
  afterAll(() => emulator?.stop());
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  return () => ({ endpoint: emulator.endpoint, region: "us-east-1", credentials });
}
