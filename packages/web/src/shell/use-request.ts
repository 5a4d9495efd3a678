import { useEffect, useState } from "react";
import { untilAnswered } from "../errors/until-answered.ts";

interface RequestState<T> {
  value: T | null;
  error: unknown;
  isLoading: boolean;
}

/** Sends a request when `key` changes; null sends none. `value` stays until the next one arrives. */
export function useRequest<T>(key: string | null, send: (signal: AbortSignal) => Promise<T>): RequestState<T> {
  const [state, setState] = useState<RequestState<T>>({ value: null, error: null, isLoading: key !== null });
  useEffect(() => {
    if (key === null) return;
    const unmounted = new AbortController();
    setState((now) => ({ ...now, error: null, isLoading: true }));
    const fail = (error: unknown) => {
      if (!unmounted.signal.aborted) setState((now) => ({ ...now, error, isLoading: false }));
    };
    untilAnswered(() => send(unmounted.signal), unmounted.signal, fail).then(
      (value) => setState({ value, error: null, isLoading: false }),
      fail,
    );
    return () => unmounted.abort();
    // `key` identifies the request; `send` is new in every render.
  }, [key]);
  return state;
}
