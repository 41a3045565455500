/**
 * Every limit and every period of the engine, with its unit in its name. A test holds them against each other. Deployments may
 * change those of `Limits`; the others are part of format 1.
 */

/** Bytes, counts and widths that stored data depends on: frozen. */
export const fixed = {
  nodesMax: 1000,
  /** Expressions inside expressions; a check, so that recursion over a definition ends. */
  expressionDepthMax: 64,
  /** The longest that a Lambda function may run: what one attempt, with the engine's own reserve, has to fit into. */
  functionMsMax: 900_000,
  /** The longest sleep, time-out of a signal or gate, and pause between two attempts: the longest deadline of a run. */
  waitMsMax: 400 * 86_400_000,
  /** Attempts, timers, signals and gates in flight per run, map items included. */
  activeMax: 64,
  /** Up to this many in flight a row stays under `rowBytesOneUnit`. */
  activeInOneUnit: 16,
  rowBytesOneUnit: 1000,
  rowBytesMax: 2000,
  /** What a row may weigh before the store refuses it anyway. */
  rowBytesRefused: 8000,
  factStringBytesMax: 32,
  /** What conditions may need on the row at one time: each kilobyte of it costs a write unit a commit. */
  factBytesMax: 3000,
  /** Outputs up to this wait on the row and are spilled together. */
  tinyOutputBytesMax: 256,
  /** Outputs up to this sit in their attempt's record. */
  recordOutputBytesMax: 4096,
  /** Outputs up to this are one item; above, the payload store has them. DynamoDB's limit is 400 KB, names and keys included. */
  itemPayloadBytesMax: 350_000,
  /** The largest payload at all. */
  payloadBytesMax: 50_000_000,
  itemPageBytes: 4096,
  mapItemsMax: 1_000_000,
  /** As many slices at once as a row holds, each with as many items in flight. */
  mapConcurrencyMax: 4096,
  /** Items of one slice of a wide map: whoever starts it writes them down at one go. */
  sliceItemsMax: 512,
  /** Iterations of a repeat; finding the last one's output looks at all. */
  repeatsMax: 10_000,
  attemptsMax: 100,
  mailboxSignalsMax: 32,
  mailboxBytesMax: 8192,
  mailEntryBytesMax: 256,
  mailIdsKept: 32,
  reasonBytesMax: 120,
  dueShards: 16,
  runShards: 4,
  commitIdsKept: 4,
  delayMsMax: 900_000,
  /** How long an opened gate is told of again by whoever cannot know whether it was: less than a waiting run's heartbeat. */
  gateEventMs: 6 * 86_400_000,
} as const;

/** Bounds of one request to the API, and of its answer: below the 6 MB that a Lambda function takes and gives, escaped as JSON. */
export const exchange = {
  bodyBytesMax: 2_000_000,
  /** An output that would make the answer bigger is left out, and the answer says so. */
  outputBytesMax: 2_000_000,
  /** Lists and objects inside each other: whatever reads the value recurses over it. */
  jsonDepthMax: 64,
  tagsMax: 16,
  tagCharsMax: 128,
  actorCharsMax: 512,
  retryAfterS: 1,
} as const;

/** Periods and bounds that a deployment (or a test, or the embedded stack) may set. */
export interface Limits {
  /** A task sent and not known to be claimed is looked at after this plus the step's lease; doubles with each sending. */
  readonly dispatchGraceMs: number;
  readonly dispatchGraceMsMax: number;
  /** Lost deliveries of one attempt (a task in the dead-letter queue) before the node fails as never-claimed. */
  readonly lostDeliveriesMax: number;
  /** Added to every lease, so that two clocks may differ. */
  readonly clockSlackMs: number;
  /** A waiting or paused run is looked at this often, at the latest. */
  readonly heartbeatMs: number;
  /** Due of mail, decisions, and of what a terminal run owes; doubles for the last. */
  readonly owedGraceMs: number;
  readonly owedGraceMsMax: number;
  readonly childPollMs: number;
  readonly childPollMsMax: number;
  readonly deadlineMs: number;
  readonly deadlineMsMax: number;
  readonly retentionMs: number;
  /** In-process attempts of one commit, and their full-jitter windows. */
  readonly commitWindowsMs: readonly number[];
  readonly requeuesMax: number;
  readonly strikesMax: number;
  /** Longer than the longest function time-out of the cycle. */
  readonly strikeSpacingMs: number;
  readonly stuckAfterMs: number;
  readonly forceFailsMax: number;
  /** Watchdog wake-ups a minute. */
  readonly sendsMax: number;
  readonly watchIntervalMs: number;
  readonly watchIntervalMsMax: number;
  /** What stays parked is tried again after `watchIntervalMsMax`, doubling, at the latest after this. */
  readonly unparkIntervalMsMax: number;
  /** Ticks, attempts and children that one run may use up; its nesting. */
  readonly ticksMax: number;
  readonly attemptsMax: number;
  readonly childrenMax: number;
  readonly childDepthMax: number;
  /** Time kept back of a function's own, in which it commits, sends and returns. */
  readonly reserveMs: number;
  /** More attempts in flight than this: a worker sends a wake-up instead of ticking itself. */
  readonly tickInPlaceMax: number;
  /** Of all runs, the share whose commits are logged, each run whole; 0 to 1. Ends and failures always are. */
  readonly commitLogShare: number;
  /** A run that has ended owes an event, and keeps its due until that is published. No choice: it is so where there is a bus. */
  readonly isPublishing: boolean;
}

export const defaultLimits: Limits = {
  dispatchGraceMs: 60_000,
  dispatchGraceMsMax: 900_000,
  lostDeliveriesMax: 3,
  clockSlackMs: 5_000,
  heartbeatMs: 7 * 86_400_000,
  owedGraceMs: 60_000,
  owedGraceMsMax: 900_000,
  childPollMs: 60_000,
  childPollMsMax: 900_000,
  deadlineMs: 30 * 86_400_000,
  deadlineMsMax: 400 * 86_400_000,
  retentionMs: 30 * 86_400_000,
  commitWindowsMs: [0, 20, 20, 40, 1000],
  requeuesMax: 12,
  strikesMax: 3,
  strikeSpacingMs: 120_000,
  stuckAfterMs: 300_000,
  forceFailsMax: 10,
  sendsMax: 1000,
  watchIntervalMs: 120_000,
  watchIntervalMsMax: 900_000,
  unparkIntervalMsMax: 86_400_000,
  ticksMax: 1_000_000,
  attemptsMax: 5_000_000,
  childrenMax: 1_000_000,
  childDepthMax: 8,
  reserveMs: 2_000,
  tickInPlaceMax: 4,
  commitLogShare: 0.01,
  isPublishing: false,
};
