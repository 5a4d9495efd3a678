import type { InboxItem } from "./inbox.ts";
import type { Census, Usage, Verdict } from "./outcome.ts";

/** `needs_person`: an inbox item waits. `failed`: a task or a run failed. `ended`: a run ended in another way. */
export const NOTIFICATION_KINDS = ["needs_person", "failed", "ended"] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

/** Delay before a delivery. An item that is answered in this time, such as a plan that `--yes` confirms, is not sent. */
export const NOTIFICATION_DELAY_MS = 2000;
/** Older notifications are dropped. */
export const NOTIFICATION_MAX_AGE_MS = 3_600_000;

/** All texts are truncated and free of control characters, so they can be displayed as they are. */
export interface Notification {
  /** Run id and `runSeq` of the event, so that a repeated notification has the same id. */
  id: string;
  kind: NotificationKind;
  run: string;
  taskId: string | null;
  title: string;
  text: string;
  /** Start of the run's request, or null if the run is not loaded. */
  request: string | null;
  at: number;
  /** The inbox item, if the notification is about one. */
  item: Pick<InboxItem, "id" | "kind" | "risk"> | null;
  outcome: { verdict: Verdict; census: Census; usage: Usage } | null;
}
