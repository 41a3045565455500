import { afterAll, beforeAll } from "vitest";
import type { ClientOptions } from "../../../lib/aws/clients.ts";
import { type Emulator, startEmulator } from "../../stack/emulator.ts";

/** MiniStack for the tests of a file, installed if it is not there: nothing is skipped here. */
export function useMiniStack(): () => ClientOptions {
  let emulator: Emulator;
  beforeAll(async () => {
    emulator = await startEmulator({ isIamEnforced: true });
  }, 60_000);
  afterAll(() => emulator?.stop());
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  return () => ({ endpoint: emulator.endpoint, region: "us-east-1", credentials });
}
