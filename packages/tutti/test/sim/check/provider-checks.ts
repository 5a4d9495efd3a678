// Checks refusing providers, usage limits, permissions and questions: when a turn may start, the cost of a wait, and
// decisions that only the user may make. Uses only the log and the real behaviour of the agents.
import type { Ledger } from "./ledger.ts";
import type { Checked } from "./log-checks.ts";
import type { Stage } from "../stage.ts";
import { activeWorkers } from "../../../src/run/lookup.ts";
import { askedMain } from "../../../src/run/provider/provider.ts";
import { providerOf } from "../../../src/run/provider/provider-name.ts";
import type { FailureCause } from "../../../src/schema/ending.ts";
import { isInformational, type EventData, type StoredEvent } from "../../../src/schema/event.ts";
import type { Run, Subagent } from "../../../src/schema/run.ts";
import { isRunOver } from "../../../src/schema/status.ts";
import type { Owed, SessionState, Worker } from "../../../src/schema/worker.ts";

export interface Wait {
  until: number;
  /** `runSeq` of its first and its latest refusal. */
  first: number;
  last: number;
  /** Number of consecutive waits. Turns refused together count as one wait. */
  waits: number;
  heardAt: number;
}

/** Number of waits before a task may fail with this code. */
const WAITS = { overloaded: 8, rate_limit: 8, api: 4 } as const;
const isPassing = (code: string | undefined): code is keyof typeof WAITS => code !== undefined && code in WAITS;

/** Returns whether the same turn is to be retried later. */
export const isPutOff = (cause: FailureCause | undefined): boolean => isPassing(cause) || cause === "usage_limit";

export function checkProviders(checked: Checked, ledger: Ledger, before: Run, event: StoredEvent): void {
  const { stage } = checked;
  switch (event.type) {
    case "main:spawning":
    case "worker:spawning": {
      const provider = providerOf(event.data.agent ?? before.agent);
      ledger.providers.set(event.data.sessionId, provider);
      checkHeld(checked, provider, event);
      return event.type === "main:spawning" ? checkOneMain(checked, provider, event) : undefined;
    }
    case "turn:started":
      return checkAsking(stage, ledger, before, event);
    case "turn:ended":
      return noteEnd(checked, ledger, before, event);
    case "provider:refused":
      return checkRefusal(stage, ledger, event);
    case "orchestrator:clockJumped": {
      const { byMs } = event.data;
      // A clock change does not shorten or extend `until`.
      for (const wait of ledger.waits.values()) if (wait.until > event.timestamp - byMs) wait.until += byMs;
      return;
    }
    case "orchestrator:reopened":
    case "orchestrator:forked":
      for (const wait of ledger.waits.values()) wait.heardAt = event.timestamp;
      return;
    case "worker:failed":
      ledger.putOff.delete(event.data.sessionId);
      return checkGivenUp(stage, ledger, event.data.sessionId, event.data.code);
    case "orchestrator:error":
      if (event.data.fatal && before.main) checkGivenUp(stage, ledger, before.main.sessionId, event.data.code);
      return;
    case "worker:timeout":
    case "worker:lost":
      return checkKept(checked, ledger, event);
    case "inbox:added":
      if (event.data.item.kind === "limit") ledger.limit = { itemId: event.data.item.id, ending: ledger.ending };
      return;
    case "inbox:answered":
      return checkPermission(stage, before, event);
    case "orchestrator:resumed":
      // Others ignored the refusals of the paused run, so they count from now on.
      for (const wait of ledger.waits.values()) wait.heardAt = event.timestamp;
      return checkResume(stage, ledger, before, event);
    default:
      return;
  }
}

/** A slow write may delay the moment at which other runs learn of a refusal (`heardAt`). */
const HEARD_MS = 10_000;

function checkHeld({ stage, ledgers }: Checked, provider: string, { timestamp, run }: StoredEvent): void {
  if (stage.clock.wasSet || stage.counts.has("sleeps of the machine")) return;
  for (const [id, { run: other, waits }] of ledgers) {
    const wait = waits.get(provider);
    if (!wait || !other || isRunOver(other.status) || timestamp >= wait.until) continue;
    stage.count("starts beside a refusal");
    const known = id === run || timestamp - wait.heardAt > HEARD_MS;
    const early = wait.until - timestamp;
    stage.require(!known, "provider", () => `${run} starts a session of ${provider} ${early} ms early`);
  }
}

/** A refusal expires this long after `until`. */
const NEWS_LAST_MS = 600_000;

/** After a wait, only one main session over all runs is started to probe the provider. */
function checkOneMain({ stage, ledgers }: Checked, provider: string, { timestamp, run: id }: StoredEvent): void {
  if (stage.clock.wasSet || stage.counts.has("sleeps of the machine")) return;
  const refuses = [...ledgers].some(([, { run, waits }]) => {
    const wait = waits.get(provider);
    if (!wait || !run || isRunOver(run.status) || run.status === "paused") return false;
    return timestamp - wait.heardAt > HEARD_MS && timestamp < wait.until + NEWS_LAST_MS;
  });
  if (!refuses) return;
  stage.count("main sessions started to see");
  const other = [...ledgers].find(([each, { run, providers }]) => {
    // Two writes in flight do not know of each other, hence `HEARD_MS`.
    const asked = each !== id && run && askedMain(run) !== null && timestamp - sinceWhen(run.main!) > HEARD_MS;
    return asked && providers.get(run.main!.sessionId) === provider;
  });
  stage.require(!other, "provider", () => `${id} starts its main session beside that of ${other![0]}, of ${provider}`);
}

const sinceWhen = ({ turn }: SessionState): number => turn?.startedAt ?? 0;

type Started = StoredEvent & { type: "turn:started" };

const keyOf = (sessionId: string, turn: number): string => `${sessionId} ${turn}`;

function probes(ledger: Ledger, run: Run, provider: string, { first }: Wait): SessionState[] {
  const sessions = [run.main, ...activeWorkers(run).map(({ session }) => session)];
  return sessions.filter((session): session is SessionState => {
    if (!session?.turn || session.state === "over" || ledger.providers.get(session.sessionId) !== provider)
      return false;
    return (ledger.begun.get(keyOf(session.sessionId, session.turn.number))?.runSeq ?? 0) > first;
  });
}

const asks = (run: Run, sessionId: string): boolean =>
  Object.values(run.inbox).some((item) => item.sessionId === sessionId);

/** No turn starts before the wait ends, then one does. A refused turn is retried unchanged. */
function checkAsking(stage: Stage, ledger: Ledger, before: Run, { data, timestamp, runSeq }: Started): void {
  const { sessionId, turn } = data;
  const provider = ledger.providers.get(sessionId)!;
  const wait = ledger.waits.get(provider);
  const key = keyOf(sessionId, turn);
  if (wait) {
    const early = wait.until - timestamp;
    stage.require(early <= 0, "provider", () => `turn ${key} begins ${early} ms before ${provider} may be asked`);
    // A session that `asks` the user has been answered by its provider.
    const other = probes(ledger, before, provider, wait).find((each) => !asks(before, each.sessionId));
    stage.require(!other, "provider", () => `turn ${key} begins beside ${other?.sessionId}, which asks ${provider}`);
    stage.count("providers asked again");
  }
  ledger.begun.set(key, { runSeq, try: data.try });
  const was = ledger.putOff.get(sessionId);
  stage.require(was === undefined || was === data.try, "provider", () => `turn ${key} is try ${data.try} after ${was}`);
  if (was !== undefined) stage.count("asked again after a refusal");
  ledger.putOff.delete(sessionId);
  stage.require(
    !asks(before, sessionId),
    "questions",
    () => `turn ${key} begins while ${sessionId} waits for a person`,
  );
}

function noteEnd({ stage, machine }: Checked, ledger: Ledger, before: Run, event: StoredEvent): void {
  const { sessionId, taskId, turn, ending, problems } = event.data as EventData<"turn:ended">;
  const provider = ledger.providers.get(sessionId)!;
  ledger.ending = ending;
  ledger.lastTurn = keyOf(sessionId, turn);
  if (ending.kind === "ended" && ledger.waits.delete(provider)) stage.count("providers that answered again");
  const owed = taskId === null ? before.owed : before.workers[taskId]?.owed;
  const paused = (taskId === null ? before.main : before.workers[taskId]?.session)?.pausedAt !== null;
  if (isPutOff(ending.cause) && !paused && owed) ledger.putOff.set(sessionId, owed.try);
  const asked = machine.processes.get(sessionId)?.questions.has(turn) && ending.kind === "ended";
  const wrong = () => `${sessionId} ended turn ${turn} with a question, which was taken for ${problems.join(", ")}`;
  stage.require(!asked || problems.length === 0, "questions", wrong);
}

/** `until` respects `retryAfterMs` and never becomes earlier. */
function checkRefusal(stage: Stage, ledger: Ledger, event: StoredEvent & { type: "provider:refused" }): void {
  const { provider, until } = event.data;
  const { timestamp, runSeq } = event;
  const before = ledger.waits.get(provider);
  const least = Math.max(timestamp + (ledger.ending?.retryAfterMs ?? 0), before?.until ?? 0);
  stage.require(until >= least, "provider", () => `${provider} is asked ${least - until} ms early`);
  // A turn that `begun` shows as started before the latest refusal is not a new wait.
  const anew = !before || (ledger.begun.get(ledger.lastTurn)?.runSeq ?? 0) > before.last;
  const waits = (before?.waits ?? 0) + (anew ? 1 : 0);
  const { count } = event.data;
  // The rules use the clock to find turns in flight. After it was set back they may wait once more than necessary.
  const right = count === waits || stage.clock.wasSet;
  stage.require(right, "provider", () => `${provider} is waited for ${waits} times, counted as ${count}`);
  if (waits > 1) stage.count("waits one after the other");
  if (!anew) stage.count("refusals of several at once");
  ledger.waits.set(provider, { until, first: before?.first ?? runSeq, last: runSeq, waits, heardAt: timestamp });
}

function checkGivenUp(stage: Stage, ledger: Ledger, sessionId: string, code: string): void {
  if (!isPassing(code)) return;
  const waits = ledger.waits.get(ledger.providers.get(sessionId)!)?.waits ?? 0;
  stage.count("given up after many waits");
  // The rules use the clock to find turns in flight. After it was set they may have counted one wait more.
  stage.require(
    waits >= WAITS[code] || stage.clock.wasSet,
    "provider",
    () => `${sessionId} failed for ${code} after ${waits} waits`,
  );
}

function checkKept(
  { stage, machine }: Checked,
  ledger: Ledger,
  { data, type }: StoredEvent & { type: "worker:timeout" | "worker:lost" },
): void {
  const { sessionId } = data;
  const waited = ledger.putOff.delete(sessionId);
  const hasEnded = machine.processes.get(sessionId)?.state === "over" || ("code" in data && data.code === "phase_over");
  stage.require(!waited || hasEnded, "provider", () => `${type} of ${sessionId}, which waits for its provider`);
}

function checkPermission(stage: Stage, before: Run, event: StoredEvent & { type: "inbox:answered" }): void {
  const item = before.inbox[event.data.itemId];
  if (item?.kind !== "permission" || event.data.withdrawn) return;
  const { text } = event.data;
  stage.count(`permissions: ${text}`);
  const allows = text.toLowerCase().startsWith("allow");
  stage.require(!allows || stage.allowed.has(item.id), "permission", () => `the user has not allowed ${item.id}`);
  if (stage.answered.has(item.id)) return;
  stage.count("permissions refused by the clock");
  const overdue = item.expiresAt !== undefined && event.timestamp >= item.expiresAt;
  stage.require(overdue, "permission", () => `${item.id} was answered with ${text} before its time`);
}

/**
 * A run parked for a limit resumes when the user says so. It resumes automatically only if its template allows it, in
 * time and not too often.
 */
function checkResume(
  stage: Stage,
  ledger: Ledger,
  before: Run,
  { data, timestamp }: StoredEvent & { type: "orchestrator:resumed" },
): void {
  if (before.pausedFrom?.reason !== "usage_limit") return;
  const { itemId, ending } = ledger.limit!;
  const byPerson = stage.resumed.has(before.id) || stage.answered.has(itemId);
  if (!data.automatic) {
    stage.count("limits: a person goes on");
    return stage.require(byPerson, "limit", () => `the user has not resumed ${before.id}`);
  }
  stage.count("limits: goes on by itself");
  const { autoResume, maxAutoResumes } = before.template.config;
  const times = ++ledger.autoResumes;
  stage.require(
    autoResume && times <= maxAutoResumes,
    "limit",
    () => `${before.id} resumes automatically, ${times} times`,
  );
  const early = (ending?.resetAt ?? 0) - timestamp;
  stage.require(early <= 0, "limit", () => `${before.id} resumes ${early} ms before its limit ends`);
}

/** Returns whether nothing blocks the next turn of a session that owes an answer. `at` is wall time. */
function isForgotten(ledger: Ledger, run: Run, session: SessionState, owed: Owed | null, at: number): boolean {
  const due = session.state === "running" && session.turn === null && session.pausedAt === null && owed !== null;
  if (!due || asks(run, session.sessionId)) return false;
  const provider = ledger.providers.get(session.sessionId)!;
  const wait = ledger.waits.get(provider);
  if (!wait) return true;
  return at >= wait.until && probes(ledger, run, provider, wait).every(({ sessionId }) => asks(run, sessionId));
}

/** The main session waits for decisions of the user, and for its sub-sessions. Before a repair it also waits for merges. */
function mainWaits(run: Run): boolean {
  const isOpen = ({ endedAt, sessionId }: Subagent): boolean => endedAt === null && sessionId === run.main?.sessionId;
  if (run.owed?.waitedSince !== undefined && Object.values(run.subagents ?? {}).some(isOpen)) return true;
  const merges = Object.values(run.workers).some(
    ({ status, merged }) => status === "completed" && merged === "not yet",
  );
  const isRepair = run.currentPhase === "workerExecution";
  return (isRepair && merges) || Object.values(run.inbox).some(({ kind }) => kind === "decision");
}

function forgotten(ledger: Ledger, run: Run, at: number): SessionState | undefined {
  if (run.status === "paused" || isRunOver(run.status)) return undefined;
  if (run.main && !mainWaits(run) && isForgotten(ledger, run, run.main, run.owed, at)) return run.main;
  // A role waits for the verdict of its lead, and a mode for the tasks that it delegated.
  const isFree = ({ status, awaits, delegating }: Worker): boolean => status === "running" && !awaits && !delegating;
  const workers = activeWorkers(run).filter(isFree);
  return workers.find(({ session, owed }) => isForgotten(ledger, run, session, owed, at))?.session;
}

/** Only sessions that await an answer or their provider may be idle after a batch. */
export function checkNobodyElseWaits(stage: Stage, ledger: Ledger, run: Run, events: readonly StoredEvent[]): void {
  if (events.every(({ type }) => isInformational(type)) || stage.clock.wasSet) return;
  const found = forgotten(ledger, run, events.at(-1)!.timestamp);
  stage.require(!found, "waiting", () => `${found?.sessionId} gets no turn, and nothing blocks it`);
}

/** How long an elapsed wait may go unnoticed, including a slow write. */
const UNNOTICED_MS = 9000;

/** Call after each step while an engine is running. */
export function checkWaitsEnd({ stage, ledgers }: Checked): void {
  const { now } = stage.loop;
  for (const ledger of ledgers.values()) {
    const found = ledger.run && ledger.waits.size > 0 && forgotten(ledger, ledger.run, stage.clock.now());
    if (!found) ledger.forgotten = null;
    else if (ledger.forgotten?.sessionId !== found.sessionId)
      ledger.forgotten = { sessionId: found.sessionId, since: now };
    const { sessionId, since = now } = ledger.forgotten ?? {};
    const oddTimes = stage.clock.wasSet || stage.counts.has("sleeps of the machine");
    const inTime = now - since < UNNOTICED_MS || oddTimes;
    stage.require(inTime, "waiting", () => `${sessionId} gets no turn, although its wait is over`);
  }
}

export function forgiveWaits({ ledgers }: Checked): void {
  for (const ledger of ledgers.values()) ledger.forgotten = null;
}
