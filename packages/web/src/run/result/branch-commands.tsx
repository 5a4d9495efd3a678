import { translate } from "../../text/language.ts";
import type { Run } from "../../../../tutti/src/schema/run.ts";
import { shellQuote } from "../../text/shell-quote.ts";
import { CopyLine } from "../../parts/copy-line.tsx";

/** Shows nothing if the run changed nothing, that is, `head` is `base`. */
export function BranchCommands({ run }: { run: Run }) {
  if (run.head === null || run.base === null || run.head === run.base) return null;
  const git = `git -C ${shellQuote(run.cwd)}`;
  const branch = `tutti/${run.id}`;
  return (
    <div className="commands">
      <h3>{translate("View the changes")}</h3>
      <CopyLine
        label={translate("Command that shows the changes")}
        text={`${git} diff ${run.base.slice(0, 10)}..${branch}`}
      />
      <h3>{translate("Merge the changes")}</h3>
      <CopyLine label={translate("Command that merges the changes")} text={`${git} merge ${branch}`} />
    </div>
  );
}
