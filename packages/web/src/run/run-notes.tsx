import { pauseText } from "./pause-look.ts";
import { capitalize } from "../../../tutti/src/sentence.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";
import { Notice } from "../parts/notice.tsx";
import { withPeriod } from "../errors/problem.ts";
import { AgentText } from "../text/agent-text.tsx";
import { isOfTutti } from "../text/is-of-tutti.ts";
import { say } from "../text/language.ts";
import { MixedText } from "../text/mixed-text.tsx";

const MOST = 3;

/** Errors of a run that is over are part of `ResultCard`, so only those of an open run are shown. */
export function RunNotes({ run, warnings }: { run: Run; warnings: readonly string[] }) {
  const errors = isRunOver(run.status) ? [] : run.errors.slice(-MOST);
  const paused = pauseText(run);
  return (
    <>
      {paused !== null && (
        <Notice tone="warning">
          <AgentText text={paused.sentence} max={400} />{" "}
          {paused.detail !== null && <MixedText text={paused.detail} max={800} isOfTutti />}
        </Notice>
      )}
      {warnings.map((warning) => (
        <Notice key={warning} tone="warning">
          <AgentText text={withPeriod(capitalize(say(warning)))} max={400} />
        </Notice>
      ))}
      {errors.map(({ error, code, timestamp }) => (
        <Notice key={`${timestamp} ${error}`} tone="bad">
          <MixedText text={error} max={600} isOfTutti={isOfTutti(code)} />
        </Notice>
      ))}
    </>
  );
}
