import { translate } from "../text/language.ts";
import { EntryList } from "./entry-list.tsx";
import { useStickToEnd } from "./use-stick-to-end.ts";
import { useTranscript } from "./use-transcript.ts";
import { Icon } from "../parts/icon.tsx";
import { ActionError } from "../errors/action-error.tsx";
import type { RunPlace } from "../shell/page-route.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";

interface Properties {
  run: Run;
  session: string | undefined;
  place: RunPlace;
  isAlive: boolean;
}

export function Transcript({ run, session, place, isAlive }: Properties) {
  const loaded = useTranscript(run.id, session, isAlive, place.entry);
  const { entries, isAtEnd, error, readEarlier, readLater, find } = loaded;
  const box = useStickToEnd(entries, place.entry !== null);
  return (
    <div className="transcript-body" ref={box} tabIndex={0} role="region" aria-label={translate("Transcript")}>
      <ActionError error={error} />
      {session === undefined && <p className="nothing-yet">{translate("This session has not started yet.")}</p>}
      {entries?.length === 0 && <p className="nothing-yet">{translate("The transcript is still empty.")}</p>}
      {entries && entries.length > 0 && (
        <EntryList
          run={run.id}
          place={place}
          entries={entries}
          format={run.template.prompts.responseFormat}
          readEarlier={readEarlier}
          readLater={isAtEnd ? null : readLater}
          find={find}
        />
      )}
      {isAlive && isAtEnd && (
        <p className="still-working">
          <Icon name="spinner" size={14} /> {translate("working")}
        </p>
      )}
    </div>
  );
}
