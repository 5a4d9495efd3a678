import { useLayoutEffect, useRef, type RefObject } from "react";

interface Properties {
  /** Null for a dialog without a field. */
  typed: RefObject<string> | null;
  onClose: () => void;
}

/**
 * While a dialog loads, its keys are no shortcuts: they could answer an item. They are collected in `typed` for the field
 * of the palette, Enter as a line break.
 */
export function TypeAhead({ typed, onClose }: Properties) {
  const latestOnClose = useRef(onClose);
  latestOnClose.current = onClose;
  // A layout effect ends when the one of the palette begins, so no key is between them.
  useLayoutEffect(() => {
    const keep = (change: (text: string) => string) => {
      if (typed) typed.current = change(typed.current);
    };
    keep(() => "");
    const onKey = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey } = event;
      if (ctrlKey || metaKey || altKey) return;
      if (key === "Escape") latestOnClose.current();
      else if (key === "Backspace") keep((text) => text.slice(0, -1));
      else if (key === "Enter" || key.length === 1) keep((text) => text + (key === "Enter" ? "\n" : key));
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    addEventListener("keydown", onKey, { capture: true });
    return () => removeEventListener("keydown", onKey, { capture: true });
  }, []);
  return null;
}
