import { useEffect, useRef } from "react";

/** True if the key belongs to a field or an open dialog, and so is no shortcut. */
export function isTyping({ target }: Event): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.closest("input, textarea, select, dialog[open]") !== null;
}

/** `handlers` get keys that are pressed alone, unless `isTyping`. A handler returns false if it did nothing. */
export function useKeys(handlers: Readonly<Record<string, () => unknown>>): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      const handler = Object.hasOwn(latest.current, event.key) ? latest.current[event.key] : undefined;
      if (handler && handler() !== false) event.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}
