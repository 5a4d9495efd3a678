// `notificationOf` turns events into notifications. Texts of agents are truncated and stripped of control characters; each
// notification target additionally escapes them for its own format.
import { census } from "../census.ts";
import type { StoredEvent } from "../../schema/event.ts";
import type { InboxItem } from "../../schema/inbox.ts";
import type { Notification, NotificationKind } from "../../schema/notification.ts";
import type { Census, Usage, Verdict } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";

const LONGEST_TITLE = 100;
const LONGEST_TEXT = 600;
const LONGEST_NAME = 60;

/**
 * Returns null for events without a notification. A null `run` gives fewer details. Secrets are masked before the texts
 * are truncated, because a truncated secret can no longer be recognized.
 */
export function notificationOf(event: StoredEvent, run: Run | null, mask = unmasked): Notification | null {
  const full = wordsOf(event, run);
  return (
    full && {
      ...full,
      title: readable(full.title, LONGEST_TITLE, mask),
      text: readable(full.text, LONGEST_TEXT, mask),
      request: full.request && readable(full.request, LONGEST_TITLE, mask),
    }
  );
}

const unmasked = (text: string): string => text;

function wordsOf(event: StoredEvent, run: Run | null): Notification | null {
  switch (event.type) {
    case "inbox:added":
      return ofItem(event, event.data.item, run);
    case "orchestrator:paused":
      // Pauses with another `reason` are the user's own, or come with an inbox item.
      return event.data.reason === "provider" || event.data.reason === "hook"
        ? made(event, run, "needs_person", "The run is paused", event.data.detail)
        : null;
    case "orchestrator:completed":
      return ended(event, run, event.data.outcome, null);
    case "orchestrator:cancelled":
      return ended(event, run, "cancelled", null);
    case "orchestrator:error":
      return event.data.fatal ? ended(event, run, "failed", event.data.error) : null;
    default:
      return null;
  }
}

function ofItem(event: StoredEvent, item: InboxItem, run: Run | null): Notification {
  const kind = item.kind === "failure" ? "failed" : "needs_person";
  const { id, risk } = item;
  const about = { taskId: nameOf(item.taskId), item: { id, kind: item.kind, risk } };
  return { ...made(event, run, kind, titleOf(item), item.question), ...about };
}

function titleOf({ kind, taskId }: InboxItem): string {
  const who = nameOf(taskId) ?? "The main session";
  switch (kind) {
    case "plan":
      return "A plan waits to be confirmed";
    case "question":
      return `${who} asks`;
    case "permission":
      return `${who} asks for permission`;
    case "data":
      return "The run needs data that no session could give";
    case "decision":
      return "The run needs a decision";
    case "budget":
      return "The run is paused: its budget is used up";
    case "limit":
      return "The run is paused: a usage limit is reached";
    case "failure":
      return `${who} failed`;
  }
}

const VERDICTS: Record<Verdict, string> = {
  success: "The run succeeded",
  degraded: "The run ended, but not everything completed",
  failed: "The run failed",
  cancelled: "The run was cancelled",
};

function ended(event: StoredEvent, run: Run | null, verdict: Verdict, error: string | null): Notification {
  const outcome = run && { verdict, census: census(run), usage: run.usage };
  const facts = outcome ? [counted(outcome.census), ...cost(outcome.usage)].join("; ") : "";
  const text = error === null ? facts : [error, facts].filter((part) => part !== "").join(" — ");
  const kind = verdict === "failed" ? "failed" : "ended";
  return { ...made(event, run, kind, VERDICTS[verdict], text), outcome };
}

function counted({ planned, ...standings }: Census): string {
  const some = Object.entries(standings).filter(([, count]) => count > 0);
  return [`${planned} planned`, ...some.map(([name, count]) => `${count} ${WORDS[name] ?? name}`)].join(", ");
}

const WORDS: Record<string, string> = { timeout: "timed out", neverStarted: "never started" };

const cost = ({ usd, inputTokens, outputTokens }: Usage): string[] => [
  ...(usd > 0 ? [`$${usd.toFixed(2)}`] : []),
  ...(inputTokens + outputTokens > 0 ? [`${inputTokens + outputTokens} tokens`] : []),
];

function made(event: StoredEvent, run: Run | null, kind: NotificationKind, title: string, text: string): Notification {
  return {
    id: `${event.run}:${event.runSeq}`,
    kind,
    run: event.run!,
    taskId: null,
    title,
    text,
    request: run && run.userRequest,
    at: event.timestamp,
    item: null,
    outcome: null,
  };
}

/** Task ids are chosen by agents, so they need the same cleaning. */
const nameOf = (taskId: string | null): string | null =>
  taskId === null ? null : readable(taskId, LONGEST_NAME, unmasked);

const ESCAPE = String.fromCodePoint(27);
const TERMINAL_CODES = new RegExp(
  `${ESCAPE}(?:\\[[0-9:;<=>?]*[ -/]*[@-~]|\\][^\\u0007${ESCAPE}]*(?:\\u0007|${ESCAPE}\\\\)?)`,
  "g",
);
const INVISIBLE = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]+/gu;

/** Reduces a text to one line of at most `max` plain characters. */
function readable(text: string, max: number, mask: (text: string) => string): string {
  // Do not process text that is truncated anyway.
  const start = text.slice(0, 20 * max).toWellFormed();
  const plain = start.replaceAll(TERMINAL_CODES, "").replaceAll(INVISIBLE, " ").replaceAll(/\s+/g, " ").trim();
  const line = mask(plain);
  if (line.length <= max) return line;
  // Half a surrogate pair at the end would be displayed as a broken character.
  return `${line.slice(0, max - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
