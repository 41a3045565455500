/**
 * What tests of workflows stand on: a whole installation in memory and in virtual time, the adapters it is made of, each with
 * faults to inject, and what one does to a run from outside.
 */
export { isSettled, statusOf } from "../core/run.ts";
export { cancel, pause, resume, signal, terminate } from "../engine/commands.ts";
export { decide } from "../engine/decide.ts";
export { findRun, readResult } from "../engine/inspect.ts";
export { type Started, type StartRequest, start } from "../engine/start.ts";
export type { Repeated, StepCall } from "./calls.ts";
export {
  byAttempt,
  crash,
  type Fake,
  type FakeKit,
  type Fakes,
  type FakesFor,
  fail,
  fakes,
  hang,
  late,
  once,
  real,
  succeed,
} from "./fakes.ts";
export type { Hooks, Injection } from "./fault-hooks.ts";
export { createMemoryPayloads } from "./memory-payloads.ts";
export { createMemoryQueue, type MemoryQueue } from "./memory-queue.ts";
export { createMemoryStore, type MemoryStore } from "./memory-store.ts";
export { createRecordingLog, createRecordingMetrics } from "./recording.ts";
export type { By, OutsideWork, RunHandle } from "./run-surface.ts";
export { createSeededRandom, type SeededRandom } from "./seeded-random.ts";
export { type TestOptions, type TestRun, testWorkflow } from "./test-workflow.ts";
export { createUnitModel, type UnitModel } from "./unit-model.ts";
export { createVirtualClock, type VirtualClock } from "./virtual-clock.ts";
export type { Waiting } from "./waiting.ts";
export { createWorld, type World, type WorldOptions } from "./world.ts";
