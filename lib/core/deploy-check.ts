import { type Contract, type Contracts, compareMarks, type Definitions } from "./contract.ts";
import type { Definition } from "./definition.ts";
import { childBodyOf, type Program, stepBodyOf, waitsFor } from "./program.ts";
import { isLive, nodeState, type Run } from "./run.ts";

/** What a build has, as far as runs in flight need it. */
export interface BuildFacts {
  hasWorkflow(name: string): boolean;
  /** Whether it takes this signal for runs of this workflow, whatever graph they are pinned to. */
  takesSignal(workflow: string, signal: string): boolean;
  /** Whether it has this definition; without it children run on the stored one, and their input is not checked. */
  hasDefinition(hash: string): boolean;
  /** Whether some step of it runs in this worker group; a deployment may have others. */
  hasGroup(group: string): boolean;
  /** Absent: there is no such handler. */
  contractOf(handler: string): Contract | undefined;
}

/** What differs for one node of a definition. */
export interface Finding {
  readonly node: string;
  readonly position: number;
  readonly kind:
    | "handler-gone"
    | "input-changed"
    | "output-changed"
    | "schema-unknown"
    | "child-unchecked"
    | "signal-refused"
    | "group-gone";
  /** `name@version`, the child workflow, the signal, or the worker group. */
  readonly subject: string;
  /** Runs only when something is undone. */
  readonly isUndo: boolean;
}

/**
 * How a run will fare with a build.
 *
 * | verdict | means |
 * |---|---|
 * | `finishes` | all that it still needs is there |
 * | `resumes` | it is parked, and what it waits for is there |
 * | `may-park` | an input schema changed: the node parks if its input no longer fits |
 * | `parks` | a handler that it still needs is gone, or an input is known not to fit: it parks there, and no try is burnt |
 * | `waits-in-vain` | a signal that it needs would be refused; or no worker is left for its group |
 * | `stays-parked` | it is parked, and what it waits for is still missing |
 */
export type Verdict = "finishes" | "resumes" | "may-park" | "parks" | "waits-in-vain" | "stays-parked";

/** Verdicts that a deploy should not come to by accident. */
export const bad: ReadonlySet<Verdict> = new Set<Verdict>(["may-park", "parks", "waits-in-vain", "stays-parked"]);

/** What is different for a definition: between what was recorded of its steps, and what a build has. */
export function findingsOf(
  definition: Definition,
  recorded: Contracts | undefined,
  build: BuildFacts,
): readonly Finding[] {
  return definition.nodes.flatMap((def, position): readonly Finding[] => {
    const isUndo = def.compensates !== undefined;
    const found = (kind: Finding["kind"], subject: string): Finding => ({
      node: def.name,
      position,
      kind,
      subject,
      isUndo,
    });
    if (def.kind === "signal" && !build.takesSignal(definition.workflow, def.signal))
      return [found("signal-refused", def.signal)];
    const child = childBodyOf(def);
    if (child && child.definition !== "self" && !build.hasDefinition(child.definition))
      return [found("child-unchecked", child.workflow)];
    const body = stepBodyOf(def);
    if (!body) return [];
    const { handler, group } = body;
    const now = build.contractOf(handler);
    if (!now) return [found("handler-gone", handler)];
    const before = recorded?.[handler];
    const input = before ? compareMarks(before.input, now.input) : "unknown";
    const output = before ? compareMarks(before.output, now.output) : "unknown";
    return [
      ...(build.hasGroup(group) ? [] : [found("group-gone", group)]),
      ...(input === "changed" ? [found("input-changed", handler)] : []),
      ...(output === "changed" ? [found("output-changed", handler)] : []),
      ...(input === "unknown" ? [found("schema-unknown", handler)] : []),
    ];
  });
}

/** Of a definition's findings those that a run can still meet: of nodes that may yet begin, or are to be undone. */
export function findingsFor(run: Run, program: Program, findings: readonly Finding[]): readonly Finding[] {
  if (!isLive(run)) return [];
  const isEnding = run.ending !== undefined;
  return findings.filter(({ position, isUndo }) => {
    if (nodeState(run.nodes, position) !== "pending") return false;
    const undone = program.nodes[position]?.def.compensates;
    if (!isUndo || undone === undefined) return !isEnding;
    const target = program.positions.get(undone);
    const state = target === undefined ? "pending" : nodeState(run.nodes, target);
    return state === "done" || (state === "pending" && !isEnding);
  });
}

/** `unfit`: nodes in flight whose input is known not to fit. */
export function verdictOf(run: Run, findings: readonly Finding[], unfit: ReadonlySet<number>): Verdict {
  const gone = new Set(findings.filter(({ kind }) => kind === "handler-gone").map(({ position }) => position));
  const parked = run.active.filter(({ state }) => state === "parked").map(({ node }) => node);
  const isBlocked = (node: number) => gone.has(node) || unfit.has(node);
  if (parked.some(isBlocked)) return "stays-parked";
  if (gone.size > 0 || unfit.size > 0) return "parks";
  if (findings.some(({ kind }) => kind === "signal-refused" || kind === "group-gone")) return "waits-in-vain";
  // the parked node's own input was looked at: only what comes later is in doubt
  if (findings.some(({ kind, position }) => kind === "input-changed" && !parked.includes(position))) return "may-park";
  return parked.length > 0 ? "resumes" : "finishes";
}

/** What to do about a finding. */
export function mendOf({ kind, subject }: Pick<Finding, "kind" | "subject">): string {
  const [name, version] = subject.split("@");
  switch (kind) {
    case "handler-gone":
      return `list step "${name}" of version "${version}" under \`keep\` until these runs have ended`;
    case "input-changed":
    case "output-changed":
      return `give the new step version: "${nextVersion(version)}", and list the old one under \`keep\` until these runs have ended`;
    case "schema-unknown":
      return "its library does not say what it takes: compare by hand, or raise its version";
    case "signal-refused":
      return `list signal "${name}" under \`keep\` until these runs have ended`;
    case "group-gone":
      return `keep worker group "${subject}" in the deployment until these runs have ended`;
    case "child-unchecked":
      return `keep workflow "${name}" as it was registered, or its input is not checked; it runs on the stored definition`;
  }
}

const nextVersion = (version = "1") => (/^\d+$/.test(version) ? String(Number(version) + 1) : `${version}-2`);

/** A build as its `definitions.json` has it. */
export function factsOfDefinitions(definitions: Definitions): BuildFacts {
  const all = Object.values(definitions.workflows);
  const hashes = new Set(all.map(({ hash }) => hash));
  const groups = new Set(all.flatMap(({ definition }) => definition.nodes.map((def) => stepBodyOf(def)?.group)));
  const kept = new Set(definitions.signals);
  return {
    hasWorkflow: (name) => Object.hasOwn(definitions.workflows, name),
    takesSignal: (workflow, signal) =>
      kept.has(signal) ||
      (Object.hasOwn(definitions.workflows, workflow) && waitsFor(definitions.workflows[workflow]?.definition, signal)),
    hasDefinition: (hash) => hashes.has(hash),
    hasGroup: (group) => groups.has(group),
    contractOf: (handler) => (Object.hasOwn(definitions.steps, handler) ? definitions.steps[handler] : undefined),
  };
}
