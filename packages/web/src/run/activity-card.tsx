import { say, translate } from "../text/language.ts";
import { useState } from "react";
import type { ActivityLine } from "./activity.ts";
import { ForkButton } from "./fork-button.tsx";
import { AgentText } from "../text/agent-text.tsx";
import { AgentWords } from "../text/agent-words.tsx";
import { clock, moment } from "../text/format.ts";
import { shown } from "../text/safe-text.ts";
import { withDetail } from "../../../tutti/src/run/describe-event.ts";

interface Properties {
  activity: readonly ActivityLine[];
  run: string;
  whole: boolean;
}

export function ActivityCard({ activity, run, whole }: Properties) {
  const [chosen, setChosen] = useState<number | null>(null);
  const at = chosen ?? activity.at(-1)?.runSeq;
  return (
    <section className="card" aria-labelledby="activity-title">
      <h2 id="activity-title" className="card-title">
        {translate("Activity")}
        {whole && (
          <a className="push" href={`/api/runs/${run}/export`} download>
            {translate("Download the whole log")}
          </a>
        )}
      </h2>
      {whole && at !== undefined && (
        <div className="answer-row fork-row">
          <label>
            {translate("Last event of a fork")}{" "}
            <select value={at} onChange={({ target }) => setChosen(Number(target.value))}>
              {activity.toReversed().map(({ runSeq, text, at: time }) => (
                <option key={runSeq} value={runSeq}>
                  {`${clock(time)} ${shown(text, 60)}`}
                </option>
              ))}
            </select>
          </label>
          <ForkButton id={run} at={at} />
        </div>
      )}
      <ol
        className={`activity${whole ? " is-whole" : ""}`}
        tabIndex={0}
        aria-label={translate("Recent events, newest first")}
      >
        {activity.toReversed().map(({ seq, at, title, words, tone }) => (
          <li key={seq} className={`tone-${tone}`}>
            <time className="mono muted" dateTime={new Date(at).toISOString()} title={moment(at)}>
              {clock(at)}
            </time>
            <span className="activity-dot" aria-hidden="true" />
            <span>
              <AgentText text={words === "" ? title : withDetail(title, " ", say).trimEnd()} max={300} />
              {words !== "" && (
                <>
                  {" "}
                  <AgentWords text={words} max={300} />
                </>
              )}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
