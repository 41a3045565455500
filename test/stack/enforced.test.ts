import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { concede, deploy, type Emulator, startEmulator } from "./emulator.ts";
import { runEveryKind } from "./kinds.ts";
import { workflows } from "./tour/first.ts";
import { type Touring, touring } from "./touring.ts";

const appFile = fileURLToPath(new URL("./tour-app.ts", import.meta.url));

describe("the same with IAM enforced", () => {
  let emulator: Emulator;
  let here: Touring;
  beforeAll(async () => {
    emulator = await startEmulator({ isIamEnforced: true });
    const env = { TOUR: "first", TOUR_SYNTHESIZER: "cli" };
    here = touring(emulator, deploy(emulator, appFile, { env, change: concede }), workflows);
  }, 300_000);
  afterAll(async () => {
    here?.close();
    await emulator?.stop();
  });

  runEveryKind(
    () => here,
    () => emulator,
  );

  it("asks for nothing that its roles do not allow, and logs no error", () => {
    expect(emulator.log().match(/.*(not authorized|AccessDenied|"level":"error").*/g)).toBeNull();
  });
});
