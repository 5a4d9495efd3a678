// `Silence` decides when a sub-session has finished: it is idle for `inactivityThreshold`, then for
// `confirmationDelay`. Observations stay in memory; after a restart, `lastActivityAt` from the log replaces them.
import type { SeenMessage, SessionActivity } from "./session-access.ts";
import type { SubSessionSettings } from "../sub-sessions/sub-session-monitor.ts";
import type { SubSession } from "../../run/fold/sub-sessions.ts";

type Settings = Pick<SubSessionSettings, "inactivityThreshold" | "confirmationDelay">;

export class Silence {
  readonly #settingsOf: (relation: SubSession) => Settings;
  /** `busyAt` is the last time that a child was busy, `shape` the result of `shapeOf` its messages. */
  readonly #seen = new Map<string, { busyAt: number; shape: string }>();

  constructor(settingsOf: (relation: SubSession) => Settings) {
    this.#settingsOf = settingsOf;
  }

  forget(childSessionId: string): void {
    this.#seen.delete(childSessionId);
  }

  /** Returns the new status of a child that is active or completing, or null if it does not change. */
  judge(
    relation: SubSession,
    messages: readonly SeenMessage[],
    { isBusy, isGone = false }: SessionActivity,
    now: number,
  ): "active" | "completing" | "completed" | null {
    const { childSessionId, status, lastActivityAt, messageCount, since } = relation;
    const isQuiet = isGone || (!isBusy && endsWithWords(messages) && !hasPendingTool(messages));
    const shape = shapeOf(messages);
    const previous = this.#seen.get(childSessionId) ?? { busyAt: lastActivityAt, shape };
    this.#seen.set(childSessionId, { busyAt: isQuiet ? previous.busyAt : now, shape });
    const hasNewMessage = messages.length !== messageCount || previous.shape !== shape;
    if (hasNewMessage || (!isQuiet && status === "completing")) return "active";
    const silentMs = now - Math.max(lastActivityAt, previous.busyAt);
    const { inactivityThreshold, confirmationDelay } = this.#settingsOf(relation);
    if (!isQuiet || silentMs < inactivityThreshold) return null;
    if (status === "active") return "completing";
    return now - since < confirmationDelay ? null : "completed";
  }
}

/** A session can have finished only if the last message is its own and has no `tools`. */
function endsWithWords(messages: readonly SeenMessage[]): boolean {
  const last = messages.at(-1);
  return last?.role === "assistant" && last.tools.length === 0;
}

/**
 * A call without a result is at work, or waits for a permission or an answer. Sources that show no `results` at all are
 * not judged.
 */
function hasPendingTool(messages: readonly SeenMessage[]): boolean {
  const results = new Set(messages.flatMap(({ results: shown = [] }) => shown.map(({ id }) => id)));
  return results.size > 0 && messages.some(({ tools }) => tools.some(({ id }) => id !== null && !results.has(id)));
}

function shapeOf(messages: readonly SeenMessage[]): string {
  const last = messages.at(-1);
  return `${messages.length} ${last?.text.length ?? 0} ${last?.tools.length ?? 0}`;
}
