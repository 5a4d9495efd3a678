import { pauseSentence } from "./pause-look.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";
import { Notice } from "../shell/notice.tsx";
import { sentence } from "../shell/problem.ts";
import { AgentText } from "../text/agent-text.tsx";

const MOST = 3;

/** Why it stands still, what the run was warned of at its start, and what went wrong since then without ending it. */
export function RunNotes({ run, warnings }: { run: Run; warnings: string[] }) {
  const errors = isRunOver(run.status) ? [] : run.errors.slice(-MOST);
  const paused = pauseSentence(run);
  return (
    <>
      {paused !== null && <Notice tone="warning">{paused}</Notice>}
      {warnings.map((warning) => (
        <Notice key={warning} tone="warning">
          <AgentText text={`${sentence(warning)}.`} max={400} />
        </Notice>
      ))}
      {errors.map(({ error, timestamp }) => (
        <Notice key={`${timestamp} ${error}`} tone="bad">
          <AgentText text={sentence(error)} max={600} />
        </Notice>
      ))}
    </>
  );
}
