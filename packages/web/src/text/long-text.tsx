import { useState } from "react";
import { visible, bounded } from "./safe-text.ts";
import { count } from "./format.ts";

/** Foreign text of any length, in its own lines; what is very long is opened on request. */
export function LongText({ text, max = 4000, mono = false }: { text: string; max?: number; mono?: boolean }) {
  const [open, setOpen] = useState(false);
  const whole = open || text.length <= max;
  return (
    <div className={`long-text${mono ? " mono" : ""}`} dir="auto">
      {visible(whole ? text : bounded(text, max))}
      {!whole && (
        <button type="button" className="button-link" onClick={() => setOpen(true)}>
          Show all {count(text.length)} characters
        </button>
      )}
    </div>
  );
}
