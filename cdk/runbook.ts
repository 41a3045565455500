/**
 * What goes wrong, by its heading in docs/runbook.md, and what to do about it in one sentence: the text of an alarm at three in the
 * morning. A test holds both to each other.
 */
export const runbook = {
  "no-sweep":
    "The watchdog has not swept for five minutes, so lost messages and long timers wait: see whether it is called, fails, or is held back. While the installation is halted this is meant.",
  "dead-letters": "Messages were given up: read their reason, mend the cause, then redrive them.",
  "dead-tasks": "Tasks that no worker took are not being closed: look at the errors of the dead-tasks function.",
  "schedule-dead-letters":
    "The scheduler could not call the watchdog: see that the function and the schedule's role are there.",
  "force-fails-held":
    "Many runs could not be processed at once, and failing them was stopped: a deploy is the likely cause, so roll it back.",
  "force-fails": "Runs that could not move were ended: read the reason in the log, mend it, and start them again.",
  uncompensated: "A run ended with work that was not undone: undo it with a run made for that.",
  overdue:
    "Runs stay overdue though they are woken: look at the queue of the watchdog's wake-ups and the coordinator's errors.",
  "poison-messages":
    "Bodies arrived that nobody can read: find who sends them; they wait in the dead-letter queue with the reason.",
  "lost-deliveries":
    "Workers die before they can claim a task: look at the errors of the group's function at its start.",
  "format-ahead":
    "Messages or rows of a newer build meet an older one for long: finish the deploy, or roll it forward.",
  errors: "A function fails as a whole, by time-out, memory or at its start: read its log.",
  "function-throttles": "Lambda refuses invocations: raise the account's concurrency, or lower maxConcurrency.",
  "table-throttles": "DynamoDB refuses reads or writes: see which key is hot, and slow down whoever floods it.",
  conflicts: "Most commits meet another one: find the runs that are woken from many sides at once.",
  recursion: "Lambda cut a chain of invocations: its RecursiveLoop must be Allow; deploy again.",
  invocations:
    "A function is called more often than its ceiling or band allows: find the workflow that loops before the bill does.",
  "write-units":
    "The table is written more often than its ceiling or band allows: find the workflow that loops before the bill does.",
} as const;

/** A heading of the runbook. */
export type RunbookAnchor = keyof typeof runbook;

/** The page in the package. Whoever keeps a copy where their people read it gives `runbookUrl`. */
export const runbookPage = "node_modules/tickwright/docs/runbook.md";
