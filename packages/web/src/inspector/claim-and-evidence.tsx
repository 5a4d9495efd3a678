import { FactList } from "../parts/fact-list.tsx";
import { Notice } from "../parts/notice.tsx";
import { AgentText } from "../text/agent-text.tsx";
import { plural } from "../text/format.ts";
import { LongText } from "../text/long-text.tsx";
import { ToolCounts } from "../workers/tool-counts.tsx";
import type { Worker } from "../../../tutti/src/schema/worker.ts";

const MERGED = { "not yet": "not yet", merged: "yes", conflict: "no, it conflicts" } as const;

/** The report of a worker beside the facts that Tutti found itself. */
export function ClaimAndEvidence({ worker }: { worker: Worker }) {
  const { summary, error, outputFiles, reportedWarnings = [], warnings = [], commit, merged, toolStats } = worker;
  return (
    <>
      <div className="claim">
        <div>
          <h3>The worker says</h3>
          <div className="agent-words">
            <LongText text={summary ?? error ?? "It has not reported yet."} max={600} />
            {reportedWarnings.map((warning) => (
              <p key={warning}>
                <AgentText text={warning} max={300} />
              </p>
            ))}
          </div>
        </div>
        <div>
          <h3>Tutti saw</h3>
          <FactList
            rows={[
              ["Tool calls", toolStats.total === 0 ? "none" : null],
              ["Failed calls", toolStats.failed > 0 ? toolStats.failed : null],
              [
                "Files",
                outputFiles.length === 0 ? null : `${plural(outputFiles.length, "file")}: ${outputFiles.join(", ")}`,
              ],
              ["Commit", commit?.slice(0, 12) ?? "none"],
              ["Merged", commit === null ? null : MERGED[merged]],
              ["Reused from", worker.reused?.run],
            ]}
          />
          <ToolCounts stats={toolStats} />
        </div>
      </div>
      {warnings.map((warning) => (
        <Notice key={warning} tone="warning">
          <AgentText text={`Claim without evidence: ${warning}.`} max={400} />
        </Notice>
      ))}
    </>
  );
}
