// `copyLines` exports a run's log as JSON lines, `readCopy` reads it back, and `forkOf` copies it into a fork.
import { fold } from "../../run/apply.ts";
import { hashOfItem, withdraw, withdrawQuestions } from "../../run/inbox/inbox.ts";
import { workersOf } from "../../run/lookup.ts";
import { sha256 } from "../../run/fold/sha256.ts";
import { PAUSABLE } from "../../run/transitions.ts";
import { LOG_BOUNDS, parseBoundedJson } from "../../schema/bounded-json.ts";
import { TuttiError } from "../../schema/error.ts";
import { EVENTS, type EventType, type RunEvent, type StoredEvent } from "../../schema/event.ts";
import { RUN_ID } from "../../schema/ids.ts";
import type { Run } from "../../schema/run.ts";
import { isRunOver } from "../../schema/status.ts";
import { EVENT_VERSION, readData, whyUnreadable } from "../../schema/upcast.ts";
import type { NewEvent } from "../../store/store.ts";
import { programsOfRun } from "../../template/trust.ts";

const FORMAT = 1;

/** The first line has the `eventVersion`, each following line one event. */
export function* copyLines(id: string, events: Iterable<StoredEvent>): Generator<string> {
  yield `${JSON.stringify({ tutti: "run", format: FORMAT, eventVersion: EVENT_VERSION, run: id })}\n`;
  for (const { runSeq, type, data, timestamp } of events)
    yield `${JSON.stringify({ runSeq, type, data, timestamp })}\n`;
}

export const writeCopy = (id: string, events: Iterable<StoredEvent>): string => [...copyLines(id, events)].join("");

/** Throws an `invalidLine` error if the log is incomplete or does not fold. */
export function readCopy(text: string): { id: string; events: NewEvent[] } {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const head = parseLine(lines[0] ?? "", 1);
  if (head["tutti"] !== "run" || head["format"] !== FORMAT)
    throw invalidLine(1, "This is not a run that Tutti exported.");
  const id = head["run"];
  const version = head["eventVersion"];
  if (typeof id !== "string" || !RUN_ID.test(id)) throw invalidLine(1, "The run id is not valid.");
  if (typeof version !== "number" || version > EVENT_VERSION)
    throw invalidLine(1, "The run was exported by a newer version of Tutti.");
  const events = lines.slice(1).map((line, i) => readEvent(parseLine(line, i + 2), i + 2, version));
  if (events.length === 0) throw invalidLine(1, "The file contains no events.");
  let run: Run | null;
  try {
    run = fold(null, placed(events));
  } catch (error) {
    throw invalidLine(2, (error as Error).message);
  }
  if (run?.id !== id) throw invalidLine(2, `The event does not belong to run "${id}".`);
  return { id, events };
}

export const stateOf = ({ events }: { events: readonly NewEvent[] }): Run => fold(null, placed(events))!;

export const programsIn = (runs: readonly Run[]): string[] => [...new Set(runs.flatMap(programsOfRun))].toSorted();

function readEvent(line: Record<string, unknown>, number: number, version: number): NewEvent {
  const { runSeq, type, data, timestamp } = line;
  if (runSeq !== number - 1) throw invalidLine(number, `Event ${number - 1} is missing.`);
  if (typeof type !== "string" || !Object.hasOwn(EVENTS, type))
    throw invalidLine(number, `The event type "${String(type)}" does not exist.`);
  if (typeof timestamp !== "number") throw invalidLine(number, "The event has no timestamp.");
  const read = readData(type, version, data);
  const why = typeof read === "object" && read !== null ? whyUnreadable(read) : null;
  if (why !== null) throw invalidLine(number, why);
  const parsed = EVENTS[type as EventType].safeParse(read);
  if (!parsed.success)
    throw invalidLine(number, `The data of "${type}" is invalid: ${parsed.error.issues[0]!.message}`);
  return { type, data: parsed.data, timestamp } as NewEvent;
}

function parseLine(line: string, number: number): Record<string, unknown> {
  try {
    const value = parseBoundedJson(line, LOG_BOUNDS);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch (error) {
    if (error instanceof TuttiError) throw invalidLine(number, error.message);
    // `invalidLine` below reports the line number.
  }
  throw invalidLine(number, "The line is not a JSON object.");
}

const invalidLine = (line: number, why: string): TuttiError =>
  new TuttiError("invalid_input", `Line ${line} cannot be imported. ${why}`);

/**
 * Includes the events that were decided with event `at`: without its consequences a run would wait forever. They have
 * the same `timestamp`.
 */
function pastUntil(events: readonly StoredEvent[], at: number): StoredEvent[] {
  const last = events.findLastIndex(({ runSeq }) => runSeq <= at);
  const next = events.findIndex(({ timestamp }, i) => i > last && timestamp !== events[last]?.timestamp);
  return last === -1 ? [] : events.slice(0, next === -1 ? undefined : next);
}

export function importOf(id: string, past: readonly NewEvent[], now: number): NewEvent[] {
  const events = [...past, { type: "orchestrator:imported" as const, data: { id }, timestamp: now }];
  return [...events, ...closing(events, now, "imported")];
}

/** Returns the events up to `at` under the id `to`, then `orchestrator:forked` and the events of `closing`. */
export function forkOf(
  events: readonly StoredEvent[],
  { from, to, at, fresh }: { from: string; to: string; at: number; fresh: boolean },
  now: number,
): NewEvent[] {
  if (Number.isFinite(at) && at > events.length) {
    throw new TuttiError(
      "event_not_found",
      `Run "${from}" has no event ${at}. Use a number from 1 to ${events.length}.`,
    );
  }
  const past = pastUntil(events, at);
  if (past.length === 0)
    throw new TuttiError(
      "invalid_input",
      `Run "${from}" has no event up to ${at}. Use a number from 1 to ${events.length}.`,
    );
  const copied = underNewId(past, from, to);
  const data = { id: to, from, at: past.at(-1)!.runSeq, ...(fresh ? { fresh } : {}) };
  copied.push({ type: "orchestrator:forked", data, timestamp: now });
  return [...copied, ...closing(copied, now, `forked from ${from}`)];
}

/**
 * Refs keep their names, because the work in git belongs to the first run. `withOwnItem` gives inbox items new ids, so
 * that an answer reaches the right run.
 */
function underNewId(events: readonly StoredEvent[], from: string, to: string): NewEvent[] {
  const [oldId, newId] = [from, to].map((id) => id.replace(/^orch_/, ""));
  const renamed = (value: unknown): unknown => {
    if (typeof value === "string") return value.startsWith("refs/tutti/") ? value : value.replaceAll(oldId!, newId!);
    if (Array.isArray(value)) return value.map(renamed);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [renamed(key), renamed(member)]));
  };
  return events.map(({ type, data, timestamp }) => {
    return withOwnItem({ type, data: renamed(data), timestamp } as NewEvent, to);
  });
}

function withOwnItem(event: NewEvent, run: string): NewEvent {
  if (event.type === "inbox:added") {
    const { item } = event.data;
    return { ...event, data: { ...event.data, item: { ...item, id: itemIn(run, item.id), hash: hashOfItem(item) } } };
  }
  if (event.type !== "inbox:answered") return event;
  return { ...event, data: { ...event.data, itemId: itemIn(run, event.data.itemId) } };
}

/** Deterministic: the same `itemId` of the same run always gets the same id. */
const itemIn = (run: string, itemId: string): string => `item_${sha256(`${run} ${itemId}`).slice(0, 10)}`;

/**
 * The sessions of a copied log do not exist here, so `lostSessions` ends them. `pauseHere` holds the run until the user
 * resumes it.
 */
function closing(events: readonly NewEvent[], at: number, why: string): NewEvent[] {
  const run = fold(null, placed(events))!;
  if (isRunOver(run.status))
    return run.released ? [] : [stamped({ type: "workspace:released", data: { id: run.id } }, at)];
  // A copied limit item would resume the run by itself when it expires.
  const limits = withdraw(run, ({ kind }) => kind === "limit");
  return [...lostSessions(run, why), ...limits, ...pauseHere(run, why)].map((event) => stamped(event, at));
}

function lostSessions(run: Run, reason: string): RunEvent[] {
  const main = run.main && run.main.state !== "over" ? run.main : null;
  const workers = workersOf(run).filter(({ session }) => session.state !== "over");
  const sessions = [...(main ? [main.sessionId] : []), ...workers.map(({ sessionId }) => sessionId)];
  return [
    // The session that asked is gone; its replacement asks again if it has to.
    ...sessions.flatMap((sessionId) => withdrawQuestions(run, sessionId)),
    ...(main
      ? [
          {
            type: "main:lost" as const,
            data: { id: run.id, sessionId: main.sessionId, taskId: null, reason, counted: false },
          },
        ]
      : []),
    ...workers.map(({ sessionId, taskId }) => ({
      type: "worker:lost" as const,
      data: { sessionId, orchestratorId: run.id, taskId, reason, counted: false },
    })),
  ];
}

function pauseHere(run: Run, detail: string): RunEvent[] {
  if (!PAUSABLE.has(run.status)) return [];
  const data = {
    id: run.id,
    previousStatus: run.status,
    previousPhase: run.currentPhase,
    reason: "person" as const,
    detail,
  };
  return [{ type: "orchestrator:paused", data }];
}

const stamped = (event: RunEvent, timestamp: number): NewEvent => ({ ...event, timestamp });

const placed = (events: readonly NewEvent[]) => events.map((event, i) => ({ ...event, runSeq: i + 1 }));
