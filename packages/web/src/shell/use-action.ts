import { useState } from "react";

export interface Action {
  busy: boolean;
  error: unknown;
  run: () => void;
}

/** An order to the server: one at a time, and what it is refused with. What it changed comes back as events. */
export function useAction(act: () => Promise<unknown>): Action {
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
