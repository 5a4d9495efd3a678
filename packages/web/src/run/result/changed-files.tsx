import { translate } from "../../text/language.ts";
import { FoldedList } from "./folded-list.tsx";
import { AgentText } from "../../text/agent-text.tsx";
import { plural } from "../../text/format.ts";

const FEW = 12;

/** `files` is null while the request is pending or after it failed. */
export function ChangedFiles({ files }: { files: string[] | null }) {
  if (files === null) return null;
  if (files.length === 0) return <p className="muted">{translate("No files changed.")}</p>;
  return (
    <FoldedList
      title={translate("{files} changed", { files: plural(files.length, "file") })}
      items={files}
      most={300}
      open={files.length <= FEW}
      wide
    >
      {(file) => (
        <li key={file} className="mono">
          <AgentText text={file} max={200} />
        </li>
      )}
    </FoldedList>
  );
}
