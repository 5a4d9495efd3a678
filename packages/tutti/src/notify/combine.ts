// `combine` makes one notification of many of one run: twenty tasks that fail together are one piece of news to the
// user.
import type { Notification } from "../schema/notification.ts";

/** Fewer notifications of one kind in one run are sent one by one. */
const MANY = 4;
/** `combine` quotes this many notifications and counts the rest. */
const QUOTED = 3;

/** Returns the first of `waiting`, with all others that are combined with it. */
export function firstGroup<T extends { notification: Notification }>(waiting: readonly T[]): T[] {
  const [first] = waiting;
  if (!first) return [];
  const { run, kind } = first.notification;
  const alike = waiting.filter(({ notification }) => notification.run === run && notification.kind === kind);
  return alike.length >= MANY ? alike : [first];
}

export function combine(group: readonly Notification[]): Notification {
  const last = group.at(-1)!;
  if (group.length === 1) return last;
  const subject = last.kind === "failed" ? "failures in one run" : "items wait for you in one run";
  const quoted = group.slice(0, QUOTED).map(({ title, text }) => `${title}: ${text}`);
  const more = group.length > QUOTED ? [`and ${group.length - QUOTED} more`] : [];
  return {
    ...last,
    taskId: null,
    item: null,
    title: `${group.length} ${subject}`,
    text: [...quoted, ...more].join("; "),
  };
}
