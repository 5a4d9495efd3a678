import { memo, useState } from "react";
import { Entry } from "./entry.tsx";
import type { BlockFormat } from "./split-blocks.ts";
import type { TranscriptEntry } from "../../../tutti/src/schema/transcript.ts";
import { ActionError } from "../shell/action-error.tsx";
import { useAction } from "../shell/use-action.ts";
import { count } from "../text/format.ts";

interface Properties {
  entries: TranscriptEntry[];
  format: BlockFormat;
  readEarlier: () => Promise<void>;
}

const FILTERS: Record<string, (entry: TranscriptEntry) => boolean> = {
  All: () => true,
  Words: ({ type }) => type === "text" || type === "prompt" || type === "ask" || type === "steered",
  Tools: ({ type }) => type === "tool" || type === "toolFailed" || type === "subagent",
  Problems: ({ type }) => ["toolFailed", "trouble", "stalled", "unstartable", "interrupted"].includes(type),
};

/** Whether a sub-agent made the call, so that it is shown below it. */
const isNested = (entry: TranscriptEntry): boolean => entry.type === "tool" && entry.parent !== undefined;

/** The newest entries. Earlier ones are read on demand; the browser draws only those in view (`content-visibility`). */
export function EntryList({ entries, format, readEarlier }: Properties) {
  const [filter, setFilter] = useState("All");
  const [text, setText] = useState("");
  const earlier = useAction(readEarlier);
  const words = text.toLowerCase();
  const shown = entries.filter(
    (entry) => FILTERS[filter]!(entry) && (words === "" || JSON.stringify(entry).toLowerCase().includes(words)),
  );
  const hidden = (entries[0]?.n ?? 1) - 1;
  return (
    <>
      <div className="entry-filters">
        <input
          className="field"
          type="search"
          aria-label="Find in the transcript"
          placeholder="Find"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <select aria-label="Kind of entries" value={filter} onChange={({ target }) => setFilter(target.value)}>
          {Object.keys(FILTERS).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
      {hidden > 0 && (
        <button type="button" className="button" disabled={earlier.busy} onClick={earlier.run}>
          Show earlier ({count(hidden)})
        </button>
      )}
      <ActionError error={earlier.error} />
      <ol className="entries">
        {shown.map((entry) => (
          <Item key={entry.n} entry={entry} format={format} />
        ))}
      </ol>
      {shown.length === 0 && entries.length > 0 && <p className="muted">Nothing matches the filter.</p>}
    </>
  );
}

const Item = memo(function Item({ entry, format }: { entry: TranscriptEntry; format: BlockFormat }) {
  return (
    <li className={`entry entry-${entry.type}${isNested(entry) ? " entry-nested" : ""}`}>
      <Entry entry={entry} format={format} />
    </li>
  );
});
