import { useEffect, useState } from "react";
import { untilAnswered } from "../errors/until-answered.ts";

interface RequestState<T> {
  value: T | null;
  error: unknown;
  isLoading: boolean;
}

/**
 * Sends a request when `key` changes; null sends none. `value` stays until the next one arrives, unless it is about
 * another `subject`.
 */
export function useRequest<T>(
  key: string | null,
  send: (signal: AbortSignal) => Promise<T>,
  subject = "",
): RequestState<T> {
  const [stored, setState] = useState<RequestState<T> & { subject: string }>({
    value: null,
    error: null,
    isLoading: key !== null,
    subject,
  });
  const state = stored.subject === subject ? stored : { value: null, error: null, isLoading: key !== null, subject };
  useEffect(() => {
    if (key === null) return;
    const unmounted = new AbortController();
    const change = (part: Partial<RequestState<T>>) => {
      if (unmounted.signal.aborted) return;
      setState((now) => ({ ...now, ...(now.subject !== subject && { value: null, subject }), ...part }));
    };
    change({ error: null, isLoading: true });
    const fail = (error: unknown) => change({ error, isLoading: false });
    untilAnswered(() => send(unmounted.signal), unmounted.signal, fail).then(
      (value) => change({ value, error: null, isLoading: false }),
      fail,
    );
    return () => unmounted.abort();
    // `key` identifies the request; `send` is new in every render.
  }, [key]);
  return state;
}
