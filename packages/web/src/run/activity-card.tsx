import type { ActivityLine } from "./activity.ts";
import { AgentText } from "../text/agent-text.tsx";
import { clock, moment } from "../text/format.ts";

export function ActivityCard({ activity }: { activity: readonly ActivityLine[] }) {
  return (
    <section className="card" aria-labelledby="activity-title">
      <h2 id="activity-title" className="card-title">
        Activity
      </h2>
      <ol className="activity" tabIndex={0} aria-label="Recent events, newest first">
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
