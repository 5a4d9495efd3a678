import { translate } from "../text/language.ts";
import { useState } from "react";
import type { CommentTarget } from "./comment-target.ts";
import { LineComment } from "./line-comment.tsx";
import { splitPatch, type PatchLine } from "./split-patch.ts";
import { AgentText } from "../text/agent-text.tsx";
import { count } from "../text/format.ts";
import { visible } from "../text/safe-text.ts";
import type { FileChange } from "../../../tutti/src/schema/api/result-values.ts";

interface Properties {
  file: FileChange;
  target: CommentTarget;
  /** The task, where the page shows the same file of several tasks. */
  side?: string | undefined;
}

const MOST_LINES = 400;

const STATUSES: Readonly<Record<FileChange["status"], string>> = {
  added: translate("added#file"),
  modified: translate("modified#file"),
  deleted: translate("deleted#file"),
  renamed: translate("renamed#file"),
  typechanged: translate("type changed#file"),
};

export function FileDiff({ file, target, side }: Properties) {
  const [most, setMost] = useState(MOST_LINES);
  const [commented, setCommented] = useState<{ indexes: readonly number[]; file: FileChange } | null>(null);
  // While the user writes comments, the file stays as it was: in a newer version a comment could be at another line.
  const { path, from, status, additions, deletions, binary, patch } = commented?.file ?? file;
  const lines = splitPatch(patch ?? "");
  const open = (index: number) =>
    setCommented((now) => ({ indexes: [...new Set(now?.indexes).add(index)], file: now?.file ?? file }));
  const close = (index: number) =>
    setCommented((now) => {
      const indexes = now?.indexes.filter((each) => each !== index) ?? [];
      return now === null || indexes.length === 0 ? null : { ...now, indexes };
    });
  return (
    <details className="file-diff card" open={lines.length <= MOST_LINES}>
      <summary>
        <span className="mono clip" title={visible(path)}>
          {from !== undefined && (
            <>
              <AgentText text={from} max={200} /> →{" "}
            </>
          )}
          <AgentText text={path} max={300} />
        </span>
        <span className="chip">{STATUSES[status]}</span>
        <span className="push diff-counts">
          <span className="tone-good">+{count(additions)}</span> <span className="tone-bad">−{count(deletions)}</span>
        </span>
      </summary>
      {binary && <p className="nothing-yet">{translate("A binary file.")}</p>}
      {!binary && lines.length === 0 && <p className="nothing-yet">{translate("No lines changed.")}</p>}
      {lines.length > 0 && (
        <div
          className="diff-lines"
          role="region"
          aria-label={
            side === undefined
              ? translate("Changes of {path}", { path })
              : translate("Changes of {path} by {task}", { path, task: side })
          }
          tabIndex={0}
        >
          <table>
            <tbody>
              {lines.slice(0, most).map((line, index) => (
                <Line
                  // Lines of a patch never change their order, so `index` can be the key.
                  key={index}
                  line={line}
                  onComment={line.kind === "hunk" || line.kind === "note" ? undefined : () => open(index)}
                >
                  {commented?.indexes.includes(index) && (
                    <LineComment
                      target={target}
                      place={`${path}:${line.after ?? line.before}`}
                      code={line.text}
                      onClose={() => close(index)}
                    />
                  )}
                </Line>
              ))}
            </tbody>
          </table>
          {lines.length > most && (
            <button type="button" className="button" onClick={() => setMost(most + 2000)}>
              {translate("Show {count} more lines", { count: count(lines.length - most) })}
            </button>
          )}
        </div>
      )}
    </details>
  );
}

const SIGNS: Record<PatchLine["kind"], string> = { added: "+", removed: "−", same: " ", hunk: "", note: "" };

const SIGN_NAMES: Partial<Record<PatchLine["kind"], string>> = {
  added: translate("added"),
  removed: translate("removed"),
};

interface LineProperties {
  line: PatchLine;
  onComment?: (() => void) | undefined;
  children: React.ReactNode;
}

function Line({ line: { kind, text, before, after }, onComment, children }: LineProperties) {
  const comment = onComment && (
    <button type="button" title={translate("Comment on this line")} onClick={onComment}>
      <span className="visually-hidden">{translate("Comment on line")} </span>
      {after ?? before}
    </button>
  );
  return (
    <>
      <tr className={`diff-line is-${kind}`}>
        <td className="diff-number">{after === null ? (comment ?? before) : before}</td>
        <td className="diff-number">{after !== null && (comment ?? after)}</td>
        <td className="diff-sign" aria-label={SIGN_NAMES[kind]}>
          {SIGNS[kind]}
        </td>
        <td className="diff-text" dir="ltr">
          {visible(text)}
        </td>
      </tr>
      {children && (
        <tr>
          <td colSpan={4}>{children}</td>
        </tr>
      )}
    </>
  );
}
