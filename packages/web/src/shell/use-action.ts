import { useState } from "react";

export interface ServerAction {
  busy: boolean;
  error: unknown;
  run: () => void;
}

/** Sends one request at a time and keeps its error. It ignores the result: changes arrive as events. */
export function useAction(act: () => Promise<unknown>): ServerAction {
  const [state, setState] = useState<{ busy: boolean; error: unknown }>({ busy: false, error: null });
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
