import { useMemo, useSyncExternalStore } from "react";
import { live } from "./live-store.ts";
import { RunFeed, type RunFeedState } from "./run-feed.ts";

export function useRunFeed(id: string): RunFeedState {
  const feed = useMemo(() => live.feed(id, (each) => new RunFeed(each)), [id]);
  return useSyncExternalStore(feed.subscribe, feed.state);
}
