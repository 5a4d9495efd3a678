import { useEffect, type RefObject } from "react";

/**
 * While the palette loads, its keys are no shortcuts: they could answer an item. They are collected in `typed` for its
 * field.
 */
export function TypeAhead({ typed }: { typed: RefObject<string> }) {
  useEffect(() => {
    typed.current = "";
    const onKey = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey } = event;
      if (ctrlKey || metaKey || altKey || key === "Escape") return;
      if (key === "Backspace") typed.current = typed.current.slice(0, -1);
      else if (key.length === 1) typed.current += key;
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    addEventListener("keydown", onKey, { capture: true });
    return () => removeEventListener("keydown", onKey, { capture: true });
  }, []);
  return null;
}
