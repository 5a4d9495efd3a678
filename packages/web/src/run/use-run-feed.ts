import { useEffect, useState, useSyncExternalStore } from "react";
import { RunFeed, type Feed } from "./run-feed.ts";

/** The run and everything that happens to it, for as long as it is looked at. */
export function useRunFeed(id: string): Feed & { retry: () => void } {
  const [feed, setFeed] = useState(() => new RunFeed(id));
  useEffect(() => {
    // Begun anew each time: an ended feed stays ended, and development mode mounts everything twice.
    const fresh = new RunFeed(id);
    setFeed(fresh);
    void fresh.begin();
    return () => fresh.end();
  }, [id]);
  const now = useSyncExternalStore(feed.subscribe, feed.feed);
  return { ...now, retry: () => location.reload() };
}
