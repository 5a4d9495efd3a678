import { useEffect, useState, useSyncExternalStore } from "react";
import { RunFeed, type RunFeedState } from "./run-feed.ts";

export function useRunFeed(id: string): RunFeedState & { retry: () => void } {
  const [feed, setFeed] = useState(() => new RunFeed(id));
  useEffect(() => {
    // An ended feed cannot restart, and `StrictMode` mounts twice in development: each mount needs a new feed.
    const fresh = new RunFeed(id);
    setFeed(fresh);
    void fresh.begin();
    return () => fresh.end();
  }, [id]);
  const current = useSyncExternalStore(feed.subscribe, feed.feed);
  return { ...current, retry: () => location.reload() };
}
