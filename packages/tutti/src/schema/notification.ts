import type { InboxItem } from "./inbox.ts";
import type { Census, Usage, Verdict } from "./outcome.ts";

/** `needs_person`: an inbox item waits. `failed`: a task or a run failed. `ended`: a run ended in another way. */
export const NOTIFICATION_KINDS = ["needs_person", "failed", "ended"] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

/** An item that is answered within `NOTIFICATION_DELAY_MS`, such as a plan that `--yes` confirms, is not sent. */
export const NOTIFICATION_DELAY_MS = 2000;
/** Notifications older than `NOTIFICATION_MAX_AGE_MS` are dropped. */
export const NOTIFICATION_MAX_AGE_MS = 3_600_000;

/** All texts of a `Notification` are truncated and free of control characters, so they can be displayed as they are. */
export interface Notification {
  /** Run id and `runSeq` of the event, so that a repeated notification has the same id. */
  id: string;
  kind: NotificationKind;
  run: string;
  taskId: string | null;
  title: string;
  text: string;
  /** The beginning of the run's request, or null if the run is not loaded. */
  request: string | null;
  at: number;
  /** Null unless the notification is about an `InboxItem`. */
  item: Pick<InboxItem, "id" | "kind" | "risk"> | null;
  outcome: { verdict: Verdict; census: Census; usage: Usage } | null;
}
