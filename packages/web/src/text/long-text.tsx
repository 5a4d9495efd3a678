import { translate } from "./language.ts";
import { useState } from "react";
import { visible, bounded } from "./safe-text.ts";
import { count } from "./format.ts";

/** Untrusted text with its line breaks. A button reveals the text after `max` characters. */
export function LongText({ text, max = 4000, mono = false }: { text: string; max?: number; mono?: boolean }) {
  const [open, setOpen] = useState(false);
  const isComplete = open || text.length <= max;
  return (
    // A long monospaced text scrolls by itself, so `tabIndex` lets the keyboard reach it.
    <div className={`long-text${mono ? " mono" : ""}`} dir="auto" tabIndex={mono ? 0 : undefined}>
      {visible(isComplete ? text : bounded(text, max))}
      {!isComplete && (
        <button type="button" className="button-link" onClick={() => setOpen(true)}>
          {translate("Show all {length} characters", { length: count(text.length) })}
        </button>
      )}
    </div>
  );
}
