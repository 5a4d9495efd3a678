import { translate } from "../text/language.ts";
import { memo, useEffect, useRef, useState, type KeyboardEvent } from "react";
import { Entry } from "./entry.tsx";
import { pairResults } from "./pair-results.ts";
import type { BlockFormat } from "./split-blocks.ts";
import { MOST_FOUND } from "./use-transcript.ts";
import { hasWords, type TranscriptEntry } from "../../../tutti/src/schema/transcript.ts";
import { ActionError } from "../errors/action-error.tsx";
import { Link } from "../shell/link.tsx";
import { ENTRY_KINDS, runAddress, type EntryKind, type RunPlace } from "../shell/page-route.ts";
import { replaceAddress } from "../shell/route.ts";
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

const FILTERS: Record<EntryKind, (entry: TranscriptEntry) => boolean> = {
  all: () => true,
  words: ({ type }) => type === "text" || type === "prompt" || type === "ask" || type === "steered",
  tools: ({ type }) => ["tool", "toolResult", "toolFailed", "subagent"].includes(type),
  problems: ({ type }) => ["toolFailed", "trouble", "stalled", "unstartable", "interrupted"].includes(type),
};
const KIND_NAMES: Record<EntryKind, string> = {
  all: translate("All"),
  words: translate("Words"),
  tools: translate("Tools"),
  problems: translate("Problems"),
};

/** A call of a sub-agent is shown below it. */
const isNested = (entry: TranscriptEntry): boolean => entry.type === "tool" && entry.parent !== undefined;

/** Other entries are read on demand; the browser draws only those in view (`content-visibility`). */
export function EntryList({ run, place, entries, format, readEarlier, readLater, find }: Properties) {
  const { kind, words: text } = place;
  const change = (part: Partial<RunPlace>) => replaceAddress(runAddress(run, { ...place, ...part }));
  const earlier = useAction(readEarlier);
  const later = useAction(readLater ?? (async () => {}));
  const [found, setFound] = useState<{ words: string; entries: TranscriptEntry[] } | null>(null);
  const words = text.trim();
  const search = useAction(async () => setFound({ words, entries: await find(words) }));
  const matches = found?.words === words ? found.entries : null;
  const shown = pairResults(matches ?? entries).filter(
    ({ entry, result }) =>
      FILTERS[kind](entry) &&
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
          onChange={({ target }) => change({ words: target.value })}
        />
        <select
          className="field is-fitting"
          aria-label={translate("Kind of entries")}
          value={kind}
          onChange={({ target }) => change({ kind: target.value as EntryKind })}
        >
          {ENTRY_KINDS.map((each) => (
            <option key={each} value={each}>
              {KIND_NAMES[each]}
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
      <ol className="entries" onKeyDown={moveFocus}>
        {shown.map(({ entry, result }) => (
          <Item
            key={`${matches === null ? "" : "found "}${entry.n}`}
            entry={entry}
            result={result}
            format={format}
            // The link of a found entry shows it among its neighbours.
            address={runAddress(run, {
              ...place,
              entry: entry.n,
              words: matches === null ? text : "",
            })}
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

/** Every search changes the addresses of all items, but not their content. */
const Content = memo(Entry);

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
        <Content entry={entry} result={result} format={format} />
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
