// `notificationOf` turns events into notifications. Texts of agents are truncated and stripped of control characters; each
// notification target additionally escapes them for its own format.
import { census } from "../census.ts";
import { describeEvent, titleOf } from "../describe-event.ts";
import type { StoredEvent } from "../../schema/event.ts";
import type { Notification, NotificationKind } from "../../schema/notification.ts";
import type { Verdict } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";

const LONGEST_TITLE = 100;
const LONGEST_TEXT = 600;
const LONGEST_NAME = 60;

/**
 * Returns null for events without a notification. A null `run` gives fewer details. `mask` is applied before the texts
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
  const kind = kindOf(event);
  const description = kind && describeEvent(event, run);
  if (kind === null || description === null) return null;
  const item = event.type === "inbox:added" ? event.data.item : null;
  const verdict = verdictOf(event);
  return {
    id: `${event.run}:${event.runSeq}`,
    kind,
    run: event.run!,
    taskId: nameOf(item && item.taskId),
    title: titleOf({ ...description, taskId: nameOf(description.taskId) }),
    text: description.detail,
    request: run && run.userRequest,
    at: event.timestamp,
    item: item && { id: item.id, kind: item.kind, risk: item.risk },
    outcome: verdict && run && { verdict, census: census(run), usage: run.usage },
  };
}

function kindOf(event: StoredEvent): NotificationKind | null {
  const { type, data } = event;
  if (type === "inbox:added") return data.item.kind === "failure" ? "failed" : "needs_person";
  // Pauses with another `reason` are the user's own, or come with an inbox item.
  if (type === "orchestrator:paused")
    return data.reason === "provider" || data.reason === "hook" ? "needs_person" : null;
  const verdict = verdictOf(event);
  return verdict && (verdict === "failed" ? "failed" : "ended");
}

function verdictOf({ type, data }: StoredEvent): Verdict | null {
  if (type === "orchestrator:completed") return data.outcome;
  if (type === "orchestrator:cancelled") return "cancelled";
  return type === "orchestrator:error" && data.fatal ? "failed" : null;
}

/** Agents choose task ids, so they need `readable` like texts. */
const nameOf = (taskId: string | null): string | null =>
  taskId === null ? null : readable(taskId, LONGEST_NAME, unmasked);

const ESCAPE = String.fromCodePoint(27);
const TERMINAL_CODES = new RegExp(
  `${ESCAPE}(?:\\[[0-9:;<=>?]*[ -/]*[@-~]|\\][^\\u0007${ESCAPE}]*(?:\\u0007|${ESCAPE}\\\\)?)`,
  "g",
);
const INVISIBLE = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]+/gu;

/** Reduces `text` to one line of at most `max` plain characters. */
function readable(text: string, max: number, mask: (text: string) => string): string {
  // Text after the first `20 * max` characters is truncated anyway.
  const start = text.slice(0, 20 * max).toWellFormed();
  const plain = start.replaceAll(TERMINAL_CODES, "").replaceAll(INVISIBLE, " ").replaceAll(/\s+/g, " ").trim();
  const line = mask(plain);
  if (line.length <= max) return line;
  // Half a surrogate pair at the end would be displayed as a broken character.
  return `${line.slice(0, max - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
