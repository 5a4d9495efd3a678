import { useEffect, useState } from "react";
import { useLive } from "../live/use-live.ts";
import { isUnreachable } from "../errors/problem.ts";

interface ServerAction {
  busy: boolean;
  error: unknown;
  run: () => void;
}

/**
 * Sends one request at a time and keeps its error. The result is ignored, since changes arrive as events. An
 * `isUnreachable` error goes when the server is back.
 */
export function useAction(act: () => Promise<unknown>): ServerAction {
  const [state, setState] = useState<{ busy: boolean; error: unknown }>({ busy: false, error: null });
  const isLive = useLive(({ connection }) => connection === "live");
  useEffect(() => {
    if (isLive) setState((now) => (isUnreachable(now.error) ? { ...now, error: null } : now));
  }, [isLive]);
  const run = () => {
    if (state.busy) return;
    setState({ busy: true, error: null });
    act().then(
      () => setState({ busy: false, error: null }),
      (error: unknown) => setState({ busy: false, error }),
    );
  };
  return { ...state, run };
}
