import { translate } from "../text/language.ts";
import { memo, useEffect, useRef, useState, type KeyboardEvent } from "react";
import { Entry } from "./entry.tsx";
import { pairResults } from "./pair-results.ts";
import type { BlockFormat } from "./split-blocks.ts";
import { MOST_FOUND } from "./use-transcript.ts";
import { hasWords, type TranscriptEntry } from "../../../tutti/src/schema/transcript.ts";
import { ActionError } from "../errors/action-error.tsx";
import { Link } from "../shell/link.tsx";
import { runAddress, type RunPlace } from "../shell/page-route.ts";
import { useAction } from "../shell/use-action.ts";
import { clock, count } from "../text/format.ts";

interface Properties {
  run: string;
  place: RunPlace;
  entries: TranscriptEntry[];
  format: BlockFormat;
  readEarlier: () => Promise<void>;
  /** Null at the end of the transcript. */
  readLater: (() => Promise<void>) | null;
  /** Finds entries of the whole transcript. */
  find: (words: string) => Promise<TranscriptEntry[]>;
}

const FILTERS = {
  All: () => true,
  Words: ({ type }) => type === "text" || type === "prompt" || type === "ask" || type === "steered",
  Tools: ({ type }) => ["tool", "toolResult", "toolFailed", "subagent"].includes(type),
  Problems: ({ type }) => ["toolFailed", "trouble", "stalled", "unstartable", "interrupted"].includes(type),
} satisfies Record<string, (entry: TranscriptEntry) => boolean>;
type FilterName = keyof typeof FILTERS;

/** A call of a sub-agent is shown below it. */
const isNested = (entry: TranscriptEntry): boolean => entry.type === "tool" && entry.parent !== undefined;

/** Other entries are read on demand; the browser draws only those in view (`content-visibility`). */
export function EntryList({ run, place, entries, format, readEarlier, readLater, find }: Properties) {
  const [filter, setFilter] = useState<FilterName>("All");
  const [text, setText] = useState("");
  const earlier = useAction(readEarlier);
  const later = useAction(readLater ?? (async () => {}));
  const [found, setFound] = useState<{ words: string; entries: TranscriptEntry[] } | null>(null);
  const words = text.trim();
  const search = useAction(async () => setFound({ words, entries: await find(words) }));
  const matches = found?.words === words ? found.entries : null;
  const shown = pairResults(matches ?? entries).filter(
    ({ entry, result }) =>
      FILTERS[filter](entry) &&
      (matches !== null || hasWords(entry, words) || result?.toLowerCase().includes(words.toLowerCase())),
  );
  const hidden = (entries[0]?.n ?? 1) - 1;
  const canSearch = words !== "" && matches === null && (hidden > 0 || readLater !== null);
  return (
    <>
      <div className="entry-filters">
        <input
          className="field"
          type="search"
          aria-label={translate("Find in the transcript")}
          placeholder={translate("Find")}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <select
          aria-label={translate("Kind of entries")}
          value={filter}
          onChange={({ target }) => setFilter(target.value as FilterName)}
        >
          {(Object.keys(FILTERS) as FilterName[]).map((name) => (
            <option key={name} value={name}>
              {translate(name)}
            </option>
          ))}
        </select>
      </div>
      {canSearch && (
        <button type="button" className="button" disabled={search.busy} onClick={search.run}>
          {translate("Find in the whole transcript")}
        </button>
      )}
      <ActionError error={search.error} />
      {matches !== null && (
        <p className="muted" role="status">
          {translate("Found in the whole transcript: {number}", {
            number: `${count(matches.length)}${matches.length < MOST_FOUND ? "" : "+"}`,
          })}
        </p>
      )}
      {hidden > 0 && matches === null && (
        <button type="button" className="button" disabled={earlier.busy} onClick={earlier.run}>
          {translate("Show earlier ({hidden})", { hidden: count(hidden) })}
        </button>
      )}
      <ActionError error={earlier.error} />
      <ol
        className="entries"
        onKeyDown={moveFocus}
        onClick={({ target }) => {
          // The link of a found entry shows it among its neighbours.
          if (matches !== null && (target as Element).closest(".entry-link") !== null) setText("");
        }}
      >
        {shown.map(({ entry, result }) => (
          <Item
            key={`${matches === null ? "" : "found "}${entry.n}`}
            entry={entry}
            result={result}
            format={format}
            address={runAddress(run, { ...place, entry: entry.n })}
            isLinked={entry.n === place.entry}
            isReachable={entry.n === (place.entry ?? shown.at(-1)?.entry.n)}
          />
        ))}
      </ol>
      {readLater !== null && matches === null && (
        <button type="button" className="button" disabled={later.busy} onClick={later.run}>
          {translate("Show later")}
        </button>
      )}
      <ActionError error={later.error} />
      {shown.length === 0 && entries.length > 0 && <p className="muted">{translate("Nothing matches the filter.")}</p>}
    </>
  );
}

interface ItemProperties {
  entry: TranscriptEntry;
  result: string | undefined;
  format: BlockFormat;
  address: string;
  isLinked: boolean;
  /** Whether Tab reaches the link; `moveFocus` reaches the others. */
  isReachable: boolean;
}

const Item = memo(function Item({ entry, result, format, address, isLinked, isReachable }: ItemProperties) {
  const item = useRef<HTMLLIElement>(null);
  const wasLinked = useRef(isLinked);
  useEffect(() => {
    // `wasLinked`: only a link that opened the page scrolls; a click on a number in view does not.
    if (wasLinked.current) item.current?.scrollIntoView({ block: "center" });
  }, []);
  return (
    <li
      ref={item}
      className={`entry entry-${entry.type}${isNested(entry) ? " entry-nested" : ""}${isLinked ? " is-linked" : ""}`}
    >
      <Link to={address} replace className="entry-link" isSkipped={!isReachable}>
        <span className="visually-hidden">
          {translate("Link to entry {number}", { number: entry.at === undefined ? "" : `${entry.n} ` })}
        </span>
        {entry.at === undefined ? entry.n : <time dateTime={entry.at}>{clock(Date.parse(entry.at))}</time>}
      </Link>
      <div className="entry-content">
        <Entry entry={entry} result={result} format={format} />
      </div>
    </li>
  );
});

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>(".entry-link")];
  const at = links.indexOf(event.target as HTMLElement);
  const next = links[at + step];
  if (step === 0 || at < 0 || !next) return;
  event.preventDefault();
  next.focus();
}
