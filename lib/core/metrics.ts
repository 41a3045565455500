/** Every metric there is, with its unit. Names are part of the public surface: dashboards and alarms hold them. */
export const metricNames = [
  "commits",
  "commits-ambiguous",
  "conflicts",
  "conflicts-percent",
  "requeues",
  "noop-ticks",
  "ticks",
  "runs-started",
  "runs-ended",
  "runs-missing",
  "runs-parked",
  "force-fails",
  "force-fails-held",
  "livelocks",
  "strikes",
  "attempts-claimed",
  "attempts-ended",
  "attempts-late",
  "attempt-ms",
  "deliveries-lost",
  "uncompensated",
  "signals-appended",
  "signals-undelivered",
  "mailbox-full",
  "gates-decided",
  "watchdog-sweeps",
  "watchdog-overdue",
  "watchdog-overdue-age-ms",
  "watchdog-sends",
  "watchdog-held",
  "messages-sent",
  "messages-handed-back",
  "messages-dead",
  "format-ahead",
  "sends-failed",
  "events-published",
  "events-failed",
  "events-refused",
  "payload-bytes",
  "wake-age-ms",
  "time-short",
  "unknown-definitions",
] as const;

export type MetricName = (typeof metricNames)[number];

/** The closed list of dimensions. Run ids and task keys are log fields, never dimensions: each value makes a metric of its own. */
export const dimensionNames = ["workflow", "status", "outcome", "group", "attempt"] as const;

export type Dimensions = { readonly [name in (typeof dimensionNames)[number]]?: string };
