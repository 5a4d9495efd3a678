import { say, translate } from "../../text/language.ts";
import type { ActivityLine } from "../activity.ts";
import { AgentText } from "../../text/agent-text.tsx";
import { AgentWords } from "../../text/agent-words.tsx";
import { MixedList } from "../../text/mixed-text.tsx";
import { clock, moment } from "../../text/format.ts";
import { withDetail } from "../../../../tutti/src/run/describe-event.ts";

/** `whole` lists have no height of their own to scroll in. */
export function ActivityLines({ lines, whole = false }: { lines: readonly ActivityLine[]; whole?: boolean }) {
  return (
    <ol
      className={`activity${whole ? " is-whole" : ""}`}
      tabIndex={0}
      aria-label={translate("Recent events, newest first")}
    >
      {lines.toReversed().map(({ seq, at, title, words, mixed, tone }) => (
        <li key={seq} className={`tone-${tone}`}>
          <time className="mono muted" dateTime={new Date(at).toISOString()} title={moment(at)}>
            {clock(at)}
          </time>
          <span className="activity-dot" aria-hidden="true" />
          <span>
            <AgentText text={words === "" ? title : withDetail(title, " ", say).trimEnd()} max={300} />
            {mixed.length > 0 && (
              <>
                {" "}
                <MixedList texts={mixed} />
              </>
            )}
            {words !== "" && mixed.length === 0 && (
              <>
                {" "}
                <AgentWords text={words} max={300} />
              </>
            )}
          </span>
        </li>
      ))}
    </ol>
  );
}
