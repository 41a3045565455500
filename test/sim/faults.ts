import type { Choices } from "./choices.ts";

/** Every kind of fault, with what its rate counts. */
export const faultKinds = {
  "crash-before": "calls to a port",
  "crash-after": "calls to a port",
  "crash-in-handler": "calls of a handler",
  "lose-request": "writes",
  "lose-reply": "writes",
  repeat: "writes, silently repeated",
  throttle: "calls to a port",
  deny: "calls to a port",
  stall: "calls to a port, held up for minutes",
  zombie: "invocations that outlive their function's time-out",
  "fail-message": "messages of a batch",
  "lose-message": "messages accepted",
  "double-message": "messages accepted",
  "late-message": "messages held up, up to a day",
  "throttle-invocation": "batches received and never begun",
  "stale-read": "eventually consistent reads",
  "index-lag": "changes that an index shows late",
  "step-clock": "invocations whose clock steps",
  "outage-watchdog": "simulations",
  "outage-coordinator": "simulations",
  "outage-worker": "simulations",
  deploy: "simulations",
  "newer-format": "simulations with a build that writes a newer format",
  "poison-row": "simulations with a run that kills whoever commits it, for good",
  "poison-task": "simulations in which a node's tasks kill whoever receives them, for a while",
  "hot-row": "simulations in which somebody else always commits first on one row, for a while",
  "outage-table": "simulations in which commits are refused, or not answered, for a while",
  "outage-queue": "simulations in which no message is taken, for a while",
  "tight-limits":
    "simulations whose engine gives up early: a commit after one or two tries, a run after three requeues",
} as const;
export type FaultKind = keyof typeof faultKinds;
export type Rates = { readonly [kind in FaultKind]: number };

/** A mix of faults, and how far clocks are apart. */
export interface Profile {
  readonly rates: Rates;
  /** Offset of a process's clock, at most, in both directions. */
  readonly skewMs: number;
  /** Longest storm; the shortest is a tenth of it. */
  readonly stormMs: number;
  /** Beyond the slack that leases have: two holders may each believe in their lease (invariant 3 is weaker there). */
  readonly isBeyondSlack?: boolean;
  /** No accepted message is lost, however often it is received, and the watchdog looks only when nothing else moves. */
  readonly isCarried?: boolean;
}

const none = Object.fromEntries(Object.keys(faultKinds).map((kind) => [kind, 0])) as Rates;
const storm: Rates = {
  "crash-before": 0.003,
  "crash-after": 0.004,
  "crash-in-handler": 0.02,
  "lose-request": 0.01,
  "lose-reply": 0.015,
  repeat: 0.015,
  throttle: 0.01,
  deny: 0.002,
  stall: 0.003,
  zombie: 0.3,
  "fail-message": 0.01,
  "lose-message": 0.02,
  "double-message": 0.06,
  "late-message": 0.02,
  "throttle-invocation": 0.02,
  "stale-read": 0.3,
  "index-lag": 0.2,
  "step-clock": 0.05,
  "outage-watchdog": 0.2,
  "outage-coordinator": 0.1,
  "outage-worker": 0.15,
  deploy: 0.35,
  "newer-format": 0.15,
  "poison-row": 0.1,
  "poison-task": 0.1,
  "hot-row": 0.12,
  "outage-table": 0.1,
  "outage-queue": 0.08,
  "tight-limits": 0.2,
};
const hourMs = 3_600_000;
/** Two clocks of processes differ by less than a lease's slack (5 s). */
const withinSlackMs = 2_400;

/** `mixed` draws one of the others for each seed. */
export const profiles = {
  calm: { rates: none, skewMs: 0, stormMs: hourMs },
  messages: {
    rates: { ...none, "lose-message": 0.15, "double-message": 0.25, "late-message": 0.1, "fail-message": 0.05 },
    skewMs: withinSlackMs,
    stormMs: 6 * hourMs,
  },
  storm: { rates: storm, skewMs: withinSlackMs, stormMs: 6 * hourMs },
  hurricane: {
    rates: { ...storm, "crash-before": 0.02, "crash-after": 0.02, "lose-reply": 0.06, throttle: 0.05, stall: 0.02 },
    skewMs: withinSlackMs,
    stormMs: 2 * hourMs,
  },
  deploys: { rates: { ...storm, deploy: 1, "newer-format": 0.5 }, skewMs: withinSlackMs, stormMs: 12 * hourMs },
  outage: {
    rates: { ...storm, "outage-watchdog": 0.8, "outage-coordinator": 0.5, "outage-worker": 0.6 },
    skewMs: withinSlackMs,
    stormMs: 24 * hourMs,
  },
  clocks: { rates: { ...storm, "step-clock": 0.4 }, skewMs: 20 * 60_000, stormMs: 6 * hourMs, isBeyondSlack: true },
  carried: {
    rates: {
      ...storm,
      "lose-message": 0,
      deploy: 0,
      "newer-format": 0,
      "outage-watchdog": 0,
      "outage-coordinator": 0,
      "outage-worker": 0,
      "poison-row": 0,
      "poison-task": 0,
    },
    skewMs: withinSlackMs,
    stormMs: 2 * hourMs,
    isCarried: true,
  },
} satisfies { readonly [name: string]: Profile };
export type ProfileName = keyof typeof profiles;

/** The rates of one simulation: some kinds of its profile, so that each has seeds that meet it alone, all stronger or weaker. */
export function drawProfile(choices: Choices, name: ProfileName | "mixed"): { name: ProfileName; profile: Profile } {
  const random = choices.random("profile");
  const picked = random.pick([
    "calm",
    "messages",
    "storm",
    "storm",
    "storm",
    "hurricane",
    "deploys",
    "outage",
    "clocks",
  ]);
  const isCarried = choices.random("carried").chance(0.15);
  const drawn = name === "mixed" ? (isCarried ? "carried" : (picked as ProfileName)) : name;
  const profile: Profile = profiles[drawn];
  const strength = random.pick([0.3, 1, 1, 2]);
  const rates = Object.entries(profile.rates).map(([kind, rate]) => {
    const isOn = random.chance(0.75) || rate >= 0.5;
    return [kind, isOn ? Math.min(1, rate * (rate < 0.1 ? strength : 1)) : 0];
  });
  return { name: drawn, profile: { ...profile, rates: Object.fromEntries(rates) as Rates } };
}
