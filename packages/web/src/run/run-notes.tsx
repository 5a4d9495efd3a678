import { pauseSentence } from "./pause-look.ts";
import { capitalize } from "../../../tutti/src/run/describe-event.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";
import { Notice } from "../parts/notice.tsx";
import { withPeriod } from "../errors/problem.ts";
import { AgentText } from "../text/agent-text.tsx";
import { say } from "../text/language.ts";

const MOST = 3;

/** Errors of a run that is over are part of `ResultCard`, so only those of an open run are shown. */
export function RunNotes({ run, warnings }: { run: Run; warnings: readonly string[] }) {
  const errors = isRunOver(run.status) ? [] : run.errors.slice(-MOST);
  const paused = pauseSentence(run);
  return (
    <>
      {paused !== null && (
        <Notice tone="warning">
          <AgentText text={paused} max={800} />
        </Notice>
      )}
      {warnings.map((warning) => (
        <Notice key={warning} tone="warning">
          <AgentText text={withPeriod(capitalize(say(warning)))} max={400} />
        </Notice>
      ))}
      {errors.map(({ error, timestamp }) => (
        <Notice key={`${timestamp} ${error}`} tone="bad">
          <AgentText text={capitalize(say(error))} max={600} />
        </Notice>
      ))}
    </>
  );
}
