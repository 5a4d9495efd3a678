import { FoldedList } from "./folded-list.tsx";
import { AgentText } from "../../text/agent-text.tsx";
import { plural } from "../../text/format.ts";

const MOST = 300;
const FEW = 12;

/** `files` is null while the request is pending or after it failed. */
export function ChangedFiles({ files }: { files: string[] | null }) {
  if (files === null) return null;
  if (files.length === 0) return <p className="muted">No files changed.</p>;
  return (
    <FoldedList title={`${plural(files.length, "file")} changed`} open={files.length <= FEW} wide>
      {files.slice(0, MOST).map((file) => (
        <li key={file} className="mono">
          <AgentText text={file} max={200} />
        </li>
      ))}
      {files.length > MOST && <li className="muted">and {files.length - MOST} more</li>}
    </FoldedList>
  );
}
