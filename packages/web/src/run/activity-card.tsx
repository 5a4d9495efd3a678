import type { ActivityLine } from "./activity.ts";
import { AgentText } from "../text/agent-text.tsx";
import { clock, moment } from "../text/format.ts";

interface Properties {
  activity: readonly ActivityLine[];
  run: string;
  /** Shows all lines instead of a small scrolling part. */
  whole: boolean;
}

export function ActivityCard({ activity, run, whole }: Properties) {
  return (
    <section className="card" aria-labelledby="activity-title">
      <h2 id="activity-title" className="card-title">
        Activity
        {whole && (
          <a className="push" href={`/api/runs/${run}/export`} download>
            Download the whole log
          </a>
        )}
      </h2>
      <ol className={`activity${whole ? " is-whole" : ""}`} tabIndex={0} aria-label="Recent events, newest first">
        {activity.toReversed().map(({ seq, at, text, tone }) => (
          <li key={seq} className={`tone-${tone}`}>
            <time className="mono muted" dateTime={new Date(at).toISOString()} title={moment(at)}>
              {clock(at)}
            </time>
            <span className="activity-dot" aria-hidden="true" />
            <span>
              <AgentText text={text} max={300} />
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
