import { say, translate } from "../text/language.ts";
import { FactList } from "../parts/fact-list.tsx";
import { Notice } from "../parts/notice.tsx";
import { AgentText } from "../text/agent-text.tsx";
import { AgentQuote } from "../text/agent-words.tsx";
import { plural } from "../text/format.ts";
import { isOfTutti } from "../text/is-of-tutti.ts";
import { LongText } from "../text/long-text.tsx";
import { ToolCounts } from "../workers/tool-counts.tsx";
import type { Worker } from "../../../tutti/src/schema/worker.ts";

const MERGED = {
  "not yet": translate("not yet"),
  merged: translate("yes"),
  conflict: translate("no, it conflicts"),
} as const;

/** `summary` is the worker's own claim; the facts beside it are those that Tutti found itself. */
export function ClaimAndEvidence({ worker }: { worker: Worker }) {
  const { summary, error, outputFiles, reportedWarnings = [], warnings = [], commit, merged, toolStats } = worker;
  // A sentence of Tutti, such as that of a time-out, is no claim.
  const claim = summary ?? (isOfTutti(worker.errorCode) ? null : error);
  return (
    <>
      <div className="claim">
        <div>
          <h3>{translate("The worker says")}</h3>
          {claim === null && (
            <p className="muted">
              {error === null ? translate("It has not reported yet.") : <AgentText text={say(error)} max={600} />}
            </p>
          )}
          {(claim !== null || reportedWarnings.length > 0) && (
            <AgentQuote>
              {claim !== null && <LongText text={claim} max={600} />}
              {reportedWarnings.map((warning) => (
                <p key={warning}>
                  <AgentText text={warning} max={300} />
                </p>
              ))}
            </AgentQuote>
          )}
        </div>
        <div>
          <h3>{translate("Tutti saw")}</h3>
          <FactList
            rows={[
              [translate("Tool calls"), toolStats.total === 0 ? translate("none") : null],
              [translate("Failed calls"), toolStats.failed > 0 ? toolStats.failed : null],
              [
                translate("Files"),
                outputFiles.length === 0 ? null : `${plural(outputFiles.length, "file")}: ${outputFiles.join(", ")}`,
              ],
              [translate("Commit"), commit?.slice(0, 12) ?? translate("none")],
              [translate("Merged"), commit === null ? null : MERGED[merged]],
              [translate("Reused from"), worker.reused?.run],
            ]}
          />
          <ToolCounts stats={toolStats} />
        </div>
      </div>
      {warnings.map((warning) => (
        <Notice key={warning} tone="warning">
          <AgentText text={translate("Claim without evidence: {warning}.", { warning: say(warning) })} max={400} />
        </Notice>
      ))}
    </>
  );
}
