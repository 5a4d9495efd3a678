import { useState } from "react";
import { Entry } from "./entry.tsx";
import type { BlockFormat } from "./split-blocks.ts";
import type { TranscriptEntry } from "../../../tutti/src/schema/transcript.ts";
import { count } from "../text/format.ts";

/** Entries rendered at first, so that the page stays fast in a long session. */
const MOST = 300;

/** Whether a sub-agent made the call, so that it is shown below it. */
const isNested = (entry: TranscriptEntry): boolean => entry.type === "tool" && entry.parent !== undefined;

export function EntryList({ entries, format }: { entries: TranscriptEntry[]; format: BlockFormat }) {
  const [most, setMost] = useState(MOST);
  const hidden = Math.max(0, entries.length - most);
  return (
    <>
      {hidden > 0 && (
        <button type="button" className="button" onClick={() => setMost(most + MOST)}>
          Show earlier ({count(hidden)})
        </button>
      )}
      <ol className="entries">
        {entries.slice(hidden).map((entry) => (
          <li key={entry.n} className={`entry entry-${entry.type}${isNested(entry) ? " entry-nested" : ""}`}>
            <Entry entry={entry} format={format} />
          </li>
        ))}
      </ol>
    </>
  );
}
