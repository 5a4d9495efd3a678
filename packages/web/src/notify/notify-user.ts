// `notifyUser` shows browser notifications while the page is hidden. `notificationOf` selects them, as for every other
// target.
import { consent } from "./consent.ts";
import { runAddress } from "../shell/page-route.ts";
import { navigate } from "../shell/route.ts";
import { visible } from "../text/safe-text.ts";
import { notificationOf } from "../../../tutti/src/run/inbox/notification-of.ts";
import type { StoredEvent } from "../../../tutti/src/schema/event.ts";
import {
  NOTIFICATION_DELAY_MS,
  NOTIFICATION_MAX_AGE_MS,
  type Notification as News,
} from "../../../tutti/src/schema/notification.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";

const waiting = new Map<News, ReturnType<typeof setTimeout>>();

/** `run` is null in the list, which does not fold runs; the notification then has fewer details. */
export function notifyUser(event: StoredEvent, run: Run | null): void {
  if (event.run === null) return;
  if (event.type === "inbox:answered") forget(({ item }) => item?.id === event.data.itemId);
  // The events before `orchestrator:forked` or `orchestrator:imported` were copied from another run.
  if (event.type === "orchestrator:forked" || event.type === "orchestrator:imported")
    forget((news) => news.run === event.run);
  const news = notificationOf(event, run);
  // A page that reconnects receives old events, hence `NOTIFICATION_MAX_AGE_MS`.
  if (news === null || Date.now() - news.at > NOTIFICATION_MAX_AGE_MS) return;
  waiting.set(
    news,
    setTimeout(() => {
      waiting.delete(news);
      if (document.hidden && consent() === "on") show(news);
    }, NOTIFICATION_DELAY_MS),
  );
}

function forget(matches: (news: News) => boolean): void {
  for (const [news, timer] of waiting) {
    if (!matches(news)) continue;
    clearTimeout(timer);
    waiting.delete(news);
  }
}

function show({ id, title, text, request, run }: News): void {
  const body = visible([text, request ?? run].filter((line) => line !== "").join("\n"));
  // The browser shows one notification per `tag`, even if several pages receive the event.
  const shown = new Notification(visible(title), { body, tag: id, icon: "/favicon.svg" });
  shown.addEventListener("click", () => {
    window.focus();
    navigate(runAddress(run));
    shown.close();
  });
}
