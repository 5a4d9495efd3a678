// A run taken along: its log as lines of JSON, read back somewhere else, or copied up to a point into a run of its own.
import { fold } from "../run/apply.ts";
import { hashOfItem, withdraw, withdrawQuestions } from "../run/inbox.ts";
import { workersOf } from "../run/lookup.ts";
import { sha256 } from "../run/sha256.ts";
import { PAUSABLE } from "../run/transitions.ts";
import { TuttiError } from "../schema/error.ts";
import { EVENTS, type EventType, type RunEvent, type StoredEvent } from "../schema/event.ts";
import { RunId } from "../schema/ids.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver } from "../schema/status.ts";
import { EVENT_VERSION, readData, whyUnreadable } from "../schema/upcast.ts";
import type { NewEvent } from "../store/store.ts";
import { programsOfRun } from "../template/trust.ts";

const FORMAT = 1;

/** One line that says what follows, then one line for each event. */
export function writeCopy(id: string, events: readonly StoredEvent[]): string {
  const head = { tutti: "run", format: FORMAT, eventVersion: EVENT_VERSION, run: id };
  const lines = events.map(({ runSeq, type, data, timestamp }) => ({ runSeq, type, data, timestamp }));
  return [head, ...lines].map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Refuses what is not a whole and sound log, with the line that is wrong. */
export function readCopy(text: string): { id: string; events: NewEvent[] } {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const head = parseLine(lines[0] ?? "", 1);
  if (head["tutti"] !== "run" || head["format"] !== FORMAT) throw wrong(1, "this is no run that Tutti exported");
  const id = head["run"];
  const version = head["eventVersion"];
  if (!RunId.safeParse(id).success) throw wrong(1, "the run has no proper id");
  if (typeof version !== "number" || version > EVENT_VERSION)
    throw wrong(1, "it was exported by a newer version of Tutti");
  const events = lines.slice(1).map((line, i) => readEvent(parseLine(line, i + 2), i + 2, version));
  if (events.length === 0) throw wrong(1, "there is no event in it");
  let run: Run | null;
  try {
    run = fold(null, placed(events));
  } catch (error) {
    throw wrong(2, (error as Error).message);
  }
  if (run?.id !== id) throw wrong(2, `it is not an event of run ${String(id)}`);
  return { id: id as string, events };
}

/** Where a run stands that is to be taken in. */
export const stateOf = ({ events }: { events: readonly NewEvent[] }): Run => fold(null, placed(events))!;

/** What these runs would start if they went on, whoever wrote them. */
export const programsIn = (runs: readonly Run[]): string[] => [...new Set(runs.flatMap(programsOfRun))].toSorted();

function readEvent(line: Record<string, unknown>, number: number, version: number): NewEvent {
  const { runSeq, type, data, timestamp } = line;
  if (runSeq !== number - 1) throw wrong(number, `event ${number - 1} is missing`);
  if (typeof type !== "string" || !Object.hasOwn(EVENTS, type))
    throw wrong(number, `there is no event ${String(type)}`);
  if (typeof timestamp !== "number") throw wrong(number, "it has no time");
  const read = readData(type, version, data);
  const why = typeof read === "object" && read !== null ? whyUnreadable(read) : null;
  if (why !== null) throw wrong(number, why);
  const parsed = EVENTS[type as EventType].safeParse(read);
  if (!parsed.success) throw wrong(number, `${type} is not as expected: ${parsed.error.issues[0]!.message}`);
  return { type, data: parsed.data, timestamp } as NewEvent;
}

function parseLine(line: string, number: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Told below, with the number of the line.
  }
  throw wrong(number, "it is no JSON object");
}

const wrong = (line: number, why: string): TuttiError => new TuttiError("invalid_input", `line ${line}: ${why}`);

/**
 * The events up to a place, and those that were decided with the one there: between a cause and its consequence a run
 * would wait for nothing. What is decided together is written at the same moment, so everything of that moment is taken.
 */
function pastUntil(events: readonly StoredEvent[], at: number): StoredEvent[] {
  const last = events.findLastIndex(({ runSeq }) => runSeq <= at);
  const next = events.findIndex(({ timestamp }, i) => i > last && timestamp !== events[last]?.timestamp);
  return last === -1 ? [] : events.slice(0, next === -1 ? undefined : next);
}

/** The log of a run that was taken in, up to now. */
export function importOf(id: string, past: readonly NewEvent[], now: number): NewEvent[] {
  const events = [...past, { type: "orchestrator:imported" as const, data: { id }, timestamp: now }];
  return [...events, ...closing(events, now, "imported")];
}

/** The log of a new run that has the past of another, up to one of its events and what was decided with it. */
export function forkOf(
  events: readonly StoredEvent[],
  { from, to, at, fresh }: { from: string; to: string; at: number; fresh: boolean },
  now: number,
): NewEvent[] {
  if (Number.isFinite(at) && at > events.length) {
    throw new TuttiError("event_not_found", `run ${from} has ${events.length} events, not ${at}`);
  }
  const past = pastUntil(events, at);
  if (past.length === 0) throw new TuttiError("invalid_input", `run ${from} has no event up to ${at}`);
  const copied = underNewId(past, from, to);
  const data = { id: to, from, at: past.at(-1)!.runSeq, ...(fresh ? { fresh } : {}) };
  copied.push({ type: "orchestrator:forked", data, timestamp: now });
  return [...copied, ...closing(copied, now, `forked from ${from}`)];
}

/**
 * The events as a run of another id. What the first run left in git stays its own, so its refs keep their names; what
 * waits for a person gets names of its own, so that an answer goes to the run it was meant for.
 */
function underNewId(events: readonly StoredEvent[], from: string, to: string): NewEvent[] {
  const [old, young] = [from, to].map((id) => id.replace(/^orch_/, ""));
  const renamed = (value: unknown): unknown => {
    if (typeof value === "string") return value.startsWith("refs/tutti/") ? value : value.replaceAll(old!, young!);
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

/** The same item of the same run always gets the same name. */
const itemIn = (run: string, itemId: string): string => `item_${sha256(`${run} ${itemId}`).slice(0, 10)}`;

/**
 * What has to follow a copied log: its sessions were those of another run or another machine, so they are gone here; and
 * nothing begins by itself until a person resumes it.
 */
function closing(events: readonly NewEvent[], at: number, why: string): NewEvent[] {
  const run = fold(null, placed(events))!;
  if (isRunOver(run.status))
    return run.released ? [] : [stamped({ type: "workspace:released", data: { id: run.id } }, at)];
  // A limit of another time and place must not let it go on by itself.
  const limits = withdraw(run, ({ kind }) => kind === "limit");
  return [...lostSessions(run, why), ...limits, ...pauseHere(run, why)].map((event) => stamped(event, at));
}

function lostSessions(run: Run, reason: string): RunEvent[] {
  const main = run.main && run.main.state !== "over" ? run.main : null;
  const workers = workersOf(run).filter(({ session }) => session.state !== "over");
  const sessions = [...(main ? [main.sessionId] : []), ...workers.map(({ sessionId }) => sessionId)];
  return [
    // Nobody is left who could hear an answer; whoever takes over asks again if it has to.
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
