import { translate } from "../../text/language.ts";
import { useMemo, useState } from "react";
import { recentLines, type ActivityLine } from "../activity.ts";
import { ActivityLines } from "./activity-lines.tsx";
import { ForkButton } from "../fork-button.tsx";
import { ActionError } from "../../errors/action-error.tsx";
import { LOG_KINDS, type LogKind, type RunPlace } from "../../shell/page-route.ts";
import { server } from "../../shell/server.ts";
import { useRequest } from "../../shell/use-request.ts";
import { clock, count } from "../../text/format.ts";
import { LongText } from "../../text/long-text.tsx";
import { shown } from "../../text/safe-text.ts";
import { toStoredEvent, type Frame } from "../../../../tutti/src/client/frame.ts";
import type { StoredEvent } from "../../../../tutti/src/schema/event.ts";
import type { Run } from "../../../../tutti/src/schema/run.ts";

interface Properties {
  run: Run;
  /** The newest events, which follow the run. */
  recent: readonly StoredEvent[];
  place: RunPlace;
  onChange: (part: Partial<RunPlace>) => void;
}

const PAGE = 1000;
/** Of the events that match, the newest ones are rendered. */
const MOST_SHOWN = 300;

const KIND_NAMES: Record<LogKind, string> = {
  recent: translate("The newest events"),
  all: translate("The whole log"),
  raw: translate("Raw events"),
};

export function LogTab({ run, recent, place, onChange }: Properties) {
  const activity = recentLines(recent, run);
  const { find, log } = place;
  const [chosen, setChosen] = useState<number | null>(null);
  const at = chosen ?? activity.at(-1)?.runSeq;
  // The log is read when it is asked for, not again for every event of a run at work.
  const stored = useRequest(log === "recent" ? null : `log ${run.id}`, (signal) => readLog(run.id, signal));
  const lines = useMemo(() => sentencesOf(stored.value ?? [], run), [stored.value]);
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (text: string) => words.every((each) => text.toLowerCase().includes(each));
  const sentences = (log === "recent" ? activity : lines).filter(({ text }) => matches(text));
  const events = log === "raw" ? (stored.value ?? []).filter((frame) => matches(JSON.stringify(frame))) : [];
  const found = log === "raw" ? events.length : sentences.length;
  return (
    <section className="card" aria-labelledby="activity-title">
      <h2 id="activity-title" className="card-title">
        {translate("Activity")}
        <a className="push" href={`/api/runs/${run.id}/export`} download>
          {translate("Download the whole log")}
        </a>
      </h2>
      <div className="answer-row fork-row">
        <input
          className="field"
          type="search"
          aria-label={translate("Find in the log")}
          placeholder={translate("Find")}
          value={find}
          onChange={({ target }) => onChange({ find: target.value })}
        />
        <select
          className="field is-fitting"
          aria-label={translate("Lines of the log")}
          value={log}
          onChange={({ target }) => onChange({ log: target.value as LogKind })}
        >
          {LOG_KINDS.map((kind) => (
            <option key={kind} value={kind}>
              {KIND_NAMES[kind]}
            </option>
          ))}
        </select>
      </div>
      {at !== undefined && (
        <div className="answer-row fork-row">
          <label>
            {translate("Last event of a fork")}{" "}
            <select className="field is-fitting" value={at} onChange={({ target }) => setChosen(Number(target.value))}>
              {activity.toReversed().map(({ runSeq, text, at: time }) => (
                <option key={runSeq} value={runSeq}>
                  {`${clock(time)} ${shown(text, 60)}`}
                </option>
              ))}
            </select>
          </label>
          <ForkButton id={run.id} at={at} />
        </div>
      )}
      <ActionError error={stored.error} />
      {stored.isLoading && <p className="loading">{translate("Loading …")}</p>}
      {found > MOST_SHOWN && (
        <p className="muted log-note">
          {translate("The newest {shown} of {found}", { shown: count(MOST_SHOWN), found: count(found) })}
        </p>
      )}
      {found === 0 && !stored.isLoading && <p className="nothing-yet">{translate("Nothing matches the filter.")}</p>}
      {log === "raw" ? (
        <RawEvents events={events.slice(-MOST_SHOWN)} />
      ) : (
        <ActivityLines lines={sentences.slice(-MOST_SHOWN)} whole />
      )}
    </section>
  );
}

function RawEvents({ events }: { events: readonly Frame[] }) {
  return (
    <ol className="activity is-whole" aria-label={translate("Raw events, newest first")}>
      {events.toReversed().map((frame) => (
        <li key={frame.seq}>
          <details className="folded">
            <summary>
              <time className="mono muted" dateTime={frame.timestamp}>
                {clock(Date.parse(frame.timestamp))}
              </time>{" "}
              <code>{`${frame.runSeq} ${frame.type}`}</code>
            </summary>
            <LongText text={JSON.stringify(frame, null, 2)} max={8000} mono />
          </details>
        </li>
      ))}
    </ol>
  );
}

async function readLog(id: string, signal: AbortSignal): Promise<Frame[]> {
  const all: Frame[] = [];
  for (;;) {
    const page = await server.events(id, { after: all.at(-1)?.seq ?? 0, limit: PAGE }, signal);
    all.push(...page);
    // A page of large events ends before `PAGE`.
    if (page.length === 0) return all;
  }
}

const sentencesOf = (frames: readonly Frame[], run: Run): ActivityLine[] => recentLines(frames.map(toStoredEvent), run);
