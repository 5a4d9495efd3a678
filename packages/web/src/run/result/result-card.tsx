import { say, translate } from "../../text/language.ts";
import { BranchCommands } from "./branch-commands.tsx";
import { Causes } from "./causes.tsx";
import { CensusRow } from "./census-row.tsx";
import { ChangedFiles } from "./changed-files.tsx";
import { Conflicts } from "./conflicts.tsx";
import { VERDICTS } from "../run-look.ts";
import { useOutputFiles } from "./use-output-files.ts";
import { Verification } from "./verification.tsx";
import { outcome, resultWarnings } from "../../../../tutti/src/run/outcome/outcome.ts";
import { capitalize } from "../../../../tutti/src/sentence.ts";
import type { Run } from "../../../../tutti/src/schema/run.ts";
import { Icon } from "../../parts/icon.tsx";
import { AgentQuote } from "../../text/agent-words.tsx";
import { LongText } from "../../text/long-text.tsx";

const SENTENCES = {
  success: translate("The plan is complete."),
  degraded: translate("The run ended, but part of the planned work is missing from the result."),
  failed: translate("The run failed."),
  cancelled: translate("The run was cancelled."),
} as const;

export function ResultCard({ run }: { run: Run }) {
  const files = useOutputFiles(run.id, run.head);
  const result = outcome(run, files ?? [], run.updatedAt);
  const verdict = result.outcome ?? "failed";
  const look = VERDICTS[verdict];
  const hasSide = run.head !== run.base || (files !== null && files.length > 0);
  return (
    <section className={`card result tone-${look.tone}`} aria-labelledby="result-title">
      <div className="result-main">
        <header className="result-head">
          <span className="result-mark">
            <Icon name={look.icon} size={20} />
          </span>
          <div>
            <h2 id="result-title">{look.word}</h2>
            <p className="muted">{SENTENCES[verdict]}</p>
          </div>
        </header>
        <CensusRow census={result.census} />
        {!hasSide && files !== null && <p className="muted">{translate("No files changed.")}</p>}
        {result.error !== null && (
          <AgentQuote>
            <LongText text={capitalize(say(result.error))} max={1000} />
          </AgentQuote>
        )}
        {run.aggregation?.summary && (
          <AgentQuote>
            <LongText text={run.aggregation.summary} max={600} />
          </AgentQuote>
        )}
        <Verification answer={run.verification} />
        <Causes causes={result.causes} tasks={run.tasks} workers={run.workers} />
        <Conflicts run={run.id} conflicts={result.conflicts} />
        {resultWarnings(run, say).map((warning) => (
          <LongText key={warning} text={warning} max={600} />
        ))}
      </div>
      {hasSide && (
        <div className="result-side">
          <BranchCommands run={run} />
          <ChangedFiles files={files} />
        </div>
      )}
    </section>
  );
}
