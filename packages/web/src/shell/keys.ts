import { useLayoutEffect, useRef } from "react";

/** True if the key belongs to a field or an open dialog, and so is no shortcut. */
export const isTyping = ({ target }: Event): boolean => takesKeys(target);

/** True for a field, and for an element of an open dialog. */
export function takesKeys(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.closest("input, textarea, select, dialog[open]") !== null;
}

/** Ctrl+Enter or ⌘Enter, which sends the text of a field. */
export const isSendKey = ({ key, ctrlKey, metaKey }: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey">): boolean =>
  key === "Enter" && (ctrlKey || metaKey);

/** `handlers` get keys that are pressed alone, unless `isTyping`. A handler returns false if it did nothing. */
export function useKeys(handlers: Readonly<Record<string, (event: KeyboardEvent) => unknown>>): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  // A layout effect, so that the keys work before the screen shows the controls that they act on.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      const handler = Object.hasOwn(latest.current, event.key) ? latest.current[event.key] : undefined;
      if (handler && handler(event) !== false) event.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}
