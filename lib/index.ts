/**
 * What authors of workflows use: define steps and signals, join them into workflows, register those. Everything else has an
 * entry of its own.
 */
export type { Arg, Input } from "./authoring/arg.ts";
export { type Call, call } from "./authoring/call.ts";
export type { Callable } from "./authoring/callable.ts";
export { definitionsOf } from "./authoring/definitions.ts";
export type { Duration } from "./authoring/duration.ts";
export { FatalError, RetryableError } from "./authoring/errors.ts";
export { type External, type ExternalConfig, external } from "./authoring/external.ts";
export type { Flow, SelfFlow } from "./authoring/flow.ts";
export type {
  Condition,
  Decision,
  GateOptions,
  MapOptions,
  NodeOptions,
  Outcome,
  RepeatOptions,
  RunOptions,
  SignalOptions,
  Until,
  WorkOptions,
} from "./authoring/flow-options.ts";
export {
  and,
  at,
  coalesce,
  eq,
  exists,
  gt,
  gte,
  isIn,
  lt,
  lte,
  must,
  ne,
  not,
  or,
  orElse,
  size,
  text,
} from "./authoring/operators.ts";
export { defaultRetry, defaultTimeoutMs, type Retry } from "./authoring/policy.ts";
export type { Ref, RefTo } from "./authoring/ref.ts";
export { type AnyWorkflow, type App, createRegistry, type RegistryOptions, registryOf } from "./authoring/registry.ts";
export { type Signal, signal } from "./authoring/signal.ts";
export { type Handling, type Step, type StepConfig, step } from "./authoring/step.ts";
export { type Workflow, workflow } from "./authoring/workflow.ts";
export type { Contract, Contracts, Definitions, SchemaMark } from "./core/contract.ts";
export type { Definition } from "./core/definition.ts";
export type { DefinitionFault } from "./core/definition-fault.ts";
export { Fault, type FaultCode, type FaultData } from "./core/faults.ts";
export type { Json } from "./core/json.ts";
export type { Handler, RegisteredWorkflow, Registry, StepContext } from "./core/registry.ts";
export { validate } from "./core/validate.ts";
