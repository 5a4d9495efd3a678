// What a person is told of outside the page or terminal they look at.
import type { InboxItem } from "./inbox.ts";
import type { Census, Usage, Verdict } from "./outcome.ts";

/** Something waits for the person, a task or a run failed, or a run came to its end in another way. */
export const NOTIFICATION_KINDS = ["needs_person", "failed", "ended"] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

/** Every text of it may be shown as it is: what agents wrote has been cut, and nothing in it moves a cursor. */
export interface Notification {
  /** The same for the same thing, however often it is told: the run and the place of the event in it. */
  id: string;
  kind: NotificationKind;
  run: string;
  taskId: string | null;
  title: string;
  text: string;
  /** The beginning of the run's request, where it is known. */
  request: string | null;
  at: number;
  /** What waits in the inbox, if that is what it is about. */
  item: Pick<InboxItem, "id" | "kind" | "risk"> | null;
  /** How the run ended, if it has and the run is known. */
  outcome: { verdict: Verdict; census: Census; usage: Usage } | null;
}
