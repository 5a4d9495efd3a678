import { translate } from "../text/language.ts";
import { useState } from "react";
import { AskedButton } from "../shell/asked-button.tsx";
import { CopyLine } from "../parts/copy-line.tsx";
import { Notice } from "../parts/notice.tsx";
import { server } from "../shell/server.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";

interface Report {
  sentence: string;
  warning?: string;
  undo: string | null;
}

/** Merges the result into the branch of the run's folder, or drops its branch, as `tutti merge` and `tutti drop` do. */
export function TakeResult({ run }: { run: Run }) {
  const [report, setReport] = useState<Report | null>(null);
  const merge = async () => {
    const { branch, from, to, undo, added = [] } = await server.merge(run.id);
    const commits = added.map((commit) => commit.slice(0, 12)).join(", ");
    setReport({
      ...(added.length > 0 && {
        warning: translate("The branch had commits that the run did not make: {commits}.", { commits }),
      }),
      sentence:
        from === to
          ? translate("{branch} contains the result already.", { branch })
          : translate("Merged into {branch}.", { branch }),
      undo,
    });
  };
  const drop = async () => {
    const { branch, commit, undo } = await server.drop(run.id);
    setReport({
      sentence:
        commit === null ? translate("There was no branch to remove.") : translate("Removed {branch}.", { branch }),
      undo,
    });
  };
  if (report) {
    return (
      <div className="take-result">
        <Notice tone="good">{report.sentence}</Notice>
        {report.warning !== undefined && <Notice tone="warning">{report.warning}</Notice>}
        {report.undo !== null && <CopyLine label={translate("Command that undoes it")} text={report.undo} />}
      </div>
    );
  }
  return (
    <div className="take-result run-actions">
      <AskedButton
        word={translate("Merge")}
        command={`tutti merge ${run.id}`}
        question={translate("Merge the result into the branch that is checked out in the folder?")}
        yes={translate("Yes, merge")}
        order={merge}
      />
      <AskedButton
        word={translate("Drop")}
        command={`tutti drop ${run.id}`}
        question={translate("Remove the branch of the result?")}
        yes={translate("Yes, drop")}
        order={drop}
      />
    </div>
  );
}
