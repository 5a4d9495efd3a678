// Tells a person who looks elsewhere what the page has just heard, by the same rule as every other way of telling.
import { consent } from "./consent.ts";
import { go, runAddress } from "../shell/route.ts";
import { notificationOf } from "../../../tutti/src/run/notification-of.ts";
import type { StoredEvent } from "../../../tutti/src/schema/event.ts";
import type { Notification as News } from "../../../tutti/src/schema/notification.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";

/** What is answered in this time is not told. */
const HOLD_MS = 2000;
/** A page that was away for long hears of much that is no news. */
const OLDEST_MS = 3_600_000;

const waiting = new Map<News, ReturnType<typeof setTimeout>>();

/** An event that has just come in; the run as far as it is known. */
export function tellPerson(event: StoredEvent, run: Run | null): void {
  if (event.run === null) return;
  if (event.type === "inbox:answered") forget(({ item }) => item?.id === event.data.itemId);
  // What came before this happened in another run.
  if (event.type === "orchestrator:forked" || event.type === "orchestrator:imported")
    forget((news) => news.run === event.run);
  const news = notificationOf(event, run);
  if (news === null || Date.now() - news.at > OLDEST_MS) return;
  waiting.set(
    news,
    setTimeout(() => {
      waiting.delete(news);
      if (document.hidden && consent() === "on") show(news);
    }, HOLD_MS),
  );
}

function forget(which: (news: News) => boolean): void {
  for (const [news, timer] of waiting) {
    if (!which(news)) continue;
    clearTimeout(timer);
    waiting.delete(news);
  }
}

function show({ id, title, text, request, run }: News): void {
  const body = [text, request ?? run].filter((line) => line !== "").join("\n");
  // Several pages that hear of it show one notification, because of the tag.
  const shown = new Notification(title, { body, tag: id, icon: "/favicon.svg" });
  shown.addEventListener("click", () => {
    window.focus();
    go(runAddress(run));
    shown.close();
  });
}
