import { spawnSync } from "node:child_process";
import { root } from "./state.ts";

export const profiles = ["ministack", "localstack"] as const;
export type Profile = (typeof profiles)[number];

/** Whether Docker with its compose plugin is there and its engine answers. */
export function hasDocker(): boolean {
  return [
    ["compose", "version"],
    ["info", "--format", "{{.ServerVersion}}"],
  ].every((args) => spawnSync("docker", args, { stdio: "ignore", timeout: 10_000 }).status === 0);
}

export function composeUp(profile: Profile, port: number): void {
  compose(profile, port, ["up", "--detach", "--wait"]);
}

export function composeDown(profile: string, port: number): void {
  compose(profile, port, ["down", "--volumes"]);
}

function compose(profile: string, port: number, args: readonly string[]): void {
  const { status } = spawnSync("docker", ["compose", "--profile", profile, ...args], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, TICKWRIGHT_STACK_PORT: String(port) },
  });
  if (status !== 0) throw new Error(`docker compose ${args[0]} failed; what it said stands above.`);
}
