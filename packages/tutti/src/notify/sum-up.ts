// Many things of one run at once, told as one: twenty tasks that fail together are one piece of news to a person.
import type { Notification } from "../schema/notification.ts";

/** So many of the same kind in one run. */
const MANY = 4;
/** So many of them are told in their own words. */
const QUOTED = 3;

/** The first of those that wait, with all others that are told together with it. */
export function firstGroup<T extends { notification: Notification }>(waiting: readonly T[]): T[] {
  const [first] = waiting;
  if (!first) return [];
  const { run, kind } = first.notification;
  const alike = waiting.filter(({ notification }) => notification.run === run && notification.kind === kind);
  return alike.length >= MANY ? alike : [first];
}

export function summedUp(group: readonly Notification[]): Notification {
  const last = group.at(-1)!;
  if (group.length === 1) return last;
  const what = last.kind === "failed" ? "failures in one run" : "things wait for you in one run";
  const quoted = group.slice(0, QUOTED).map(({ title, text }) => `${title}: ${text}`);
  const more = group.length > QUOTED ? [`and ${group.length - QUOTED} more`] : [];
  return { ...last, taskId: null, item: null, title: `${group.length} ${what}`, text: [...quoted, ...more].join("; ") };
}
