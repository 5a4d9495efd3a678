// Checks timeouts by the loop's clock, because the wall clock may be set. An attempt's clock stops while the attempt is
// paused, or waits for the user or its provider.
import type { Attempt, Ledger } from "./ledger.ts";
import { isPutOff } from "./provider-checks.ts";
import type { Stage } from "../stage.ts";
import type { StoredEvent } from "../../../src/schema/event.ts";
import type { Run } from "../../../src/schema/run.ts";

/** Tolerance after a clock change: the time of a decision is then unknown, and its write may be slow. */
const SLACK_MS = 9000;

export function checkTime(stage: Stage, ledger: Ledger, before: Run, event: StoredEvent): void {
  const now = momentOf(stage, event);
  switch (event.type) {
    case "worker:started": {
      const attempt = ledger.active.get(event.data.taskId);
      if (attempt) Object.assign(attempt, { startedAt: now, runsSince: now });
      return;
    }
    case "worker:paused":
      return during(ledger, event.data.taskId, (attempt) => (attempt.paused = true), now);
    case "worker:resumed":
      return during(ledger, event.data.taskId, (attempt) => (attempt.paused = false), now);
    case "inbox:added": {
      const { item } = event.data;
      if (item.taskId === null || (item.kind !== "question" && item.kind !== "permission")) return;
      return during(ledger, item.taskId, (attempt) => attempt.questions.add(item.id), now);
    }
    case "inbox:answered": {
      const item = before.inbox[event.data.itemId];
      if (!item || item.taskId === null) return;
      return during(ledger, item.taskId, (attempt) => attempt.questions.delete(item.id), now);
    }
    case "turn:ended": {
      const { taskId, ending } = event.data;
      if (taskId === null || !isPutOff(ending.cause)) return;
      return during(ledger, taskId, (attempt) => (attempt.putOff = true), now);
    }
    case "turn:started":
      if (event.data.taskId === null) return;
      return during(ledger, event.data.taskId, (attempt) => (attempt.putOff = false), now);
    case "orchestrator:clockJumped":
      // A clock change does not shorten or extend `notBefore`.
      for (const [taskId, at] of ledger.notBefore) ledger.notBefore.set(taskId, at + event.data.byMs);
      for (const attempt of ledger.active.values()) attempt.unsure ||= attempt.runsSince === null;
      return;
    case "worker:timeout":
      return checkTimeout(stage, ledger, before, event, now);
    default:
      return;
  }
}

const momentOf = ({ clock, loop }: Stage, { timestamp }: StoredEvent): number =>
  clock.wasSet ? loop.now : clock.virtual(timestamp);

/** Stops the attempt's clock, applies `change`, and restarts the clock if nothing blocks it. */
function during(ledger: Ledger, taskId: string, change: (attempt: Attempt) => void, now: number): void {
  const attempt = ledger.active.get(taskId);
  if (!attempt || attempt.startedAt === null) return;
  if (attempt.runsSince !== null) attempt.ranMs += now - attempt.runsSince;
  change(attempt);
  attempt.runsSince = attempt.paused || attempt.putOff || attempt.questions.size > 0 ? null : now;
}

type Timeout = StoredEvent & { type: "worker:timeout" };

function checkTimeout(stage: Stage, ledger: Ledger, before: Run, event: Timeout, now: number): void {
  const attempt = ledger.active.get(event.data.taskId);
  if (event.data.code !== "worker_timeout" || !attempt || attempt.startedAt === null || attempt.unsure) return;
  const ran = attempt.ranMs + (attempt.runsSince === null ? 0 : now - attempt.runsSince);
  const { workerTimeout } = before.template.config;
  // Neither clock records when a late write was decided, nor one during which the machine slept.
  const isUnknown = ["late writes before a restart", "sleeps of the machine"].some((name) => stage.counts.has(name));
  if (stage.clock.wasSet && isUnknown) return;
  const slack = stage.clock.wasSet ? SLACK_MS : 0;
  stage.require(ran >= workerTimeout - slack, "time", () => `${attempt.sessionId} had ${ran} of ${workerTimeout} ms`);
  stage.count("timeouts checked");
}

/** `unsure` attempts: the engine that could have detected the clock change has crashed. */
export function clockWasSetUnseen(ledgers: Iterable<Ledger>): void {
  for (const { active } of ledgers) for (const attempt of active.values()) attempt.unsure = true;
}

export function stopClocks(stage: Stage, ledger: Ledger): void {
  if (ledger.active.size > 0) stage.fail("I13", `${ledger.active.size} attempts are open after the run has ended`);
}
