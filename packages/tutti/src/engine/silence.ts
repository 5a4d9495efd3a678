// When a sub-session has finished: it says nothing, and is in the middle of nothing, for so long. How it was last seen is kept
// in memory only; after a restart the time of its last activity, which the log has, stands for it.
import type { SeenMessage } from "./session-reach.ts";
import type { SubSessionSettings } from "./sub-session-monitor.ts";
import type { SubSession } from "../run/sub-sessions.ts";

type Settings = Pick<SubSessionSettings, "inactivityThreshold" | "confirmationDelay">;

export class Silence {
  readonly #settings: Settings;
  /** When a child was last seen in the middle of something, and what its last message looked like. */
  readonly #seen = new Map<string, { busyAt: number; shape: string }>();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  forget(childSessionId: string): void {
    this.#seen.delete(childSessionId);
  }

  /** What is to become of a child that is active or completing; null if nothing. */
  judge(
    relation: SubSession,
    messages: readonly SeenMessage[],
    isBusy: boolean,
    now: number,
  ): "active" | "completing" | "completed" | null {
    const { childSessionId, status, lastActivityAt, messageCount, since } = relation;
    const isQuiet = !isBusy && endsWithWords(messages);
    const shape = shapeOf(messages);
    const before = this.#seen.get(childSessionId) ?? { busyAt: lastActivityAt, shape };
    this.#seen.set(childSessionId, { busyAt: isQuiet ? before.busyAt : now, shape });
    const hasSpoken = messages.length !== messageCount || before.shape !== shape;
    if (hasSpoken || (!isQuiet && status === "completing")) return "active";
    const silentMs = now - Math.max(lastActivityAt, before.busyAt);
    if (!isQuiet || silentMs < this.#settings.inactivityThreshold) return null;
    if (status === "active") return "completing";
    return now - since < this.#settings.confirmationDelay ? null : "completed";
  }
}

/** Only a session that has spoken last, and waits for no tool, can have finished. */
function endsWithWords(messages: readonly SeenMessage[]): boolean {
  const last = messages.at(-1);
  return last?.role === "assistant" && last.tools.length === 0;
}

function shapeOf(messages: readonly SeenMessage[]): string {
  const last = messages.at(-1);
  return `${messages.length} ${last?.text.length ?? 0} ${last?.tools.length ?? 0}`;
}
