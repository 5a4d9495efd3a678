import { translate } from "../text/language.ts";
import { ActionError } from "../errors/action-error.tsx";
import { server } from "../shell/server.ts";
import { useRequest } from "../shell/use-request.ts";
import { count } from "../text/format.ts";
import { LongText } from "../text/long-text.tsx";
import type { TranscriptEntry } from "../../../tutti/src/schema/transcript.ts";

/** The first prompt of a session is among its `FIRST_ENTRIES`. */
const FIRST_ENTRIES = 20;

/** Later prompts are in the transcript. */
export function FirstPrompt({ run, session }: { run: string; session: string | undefined }) {
  const { value, error, isLoading } = useRequest(
    session === undefined ? null : `${run} ${session}`,
    (signal) => server.transcript(run, session!, { after: 0, limit: FIRST_ENTRIES }, signal),
    session,
  );
  const prompt = value?.find((entry): entry is TranscriptEntry & { type: "prompt" } => entry.type === "prompt");
  return (
    <>
      <ActionError error={error} />
      {isLoading && value === null && <p className="loading">{translate("Loading …")}</p>}
      {!isLoading && !prompt && <p className="nothing-yet">{translate("No prompt was sent yet.")}</p>}
      {prompt && (
        <>
          <p className="muted">
            {translate("Prompt {turn}, {length} characters", { turn: prompt.turn, length: count(prompt.text.length) })}
          </p>
          <LongText text={prompt.text} max={100_000} mono />
        </>
      )}
    </>
  );
}
