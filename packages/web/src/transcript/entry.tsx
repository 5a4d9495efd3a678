import { Said } from "./said.tsx";
import type { BlockFormat } from "./split-blocks.ts";
import { toolTarget } from "./tool-target.ts";
import type { TranscriptEntry } from "../../../tutti/src/schema/transcript.ts";
import { Icon } from "../shell/icon.tsx";
import { AgentText } from "../text/agent-text.tsx";
import { count, money } from "../text/format.ts";
import { LongText } from "../text/long-text.tsx";

export function Entry({ entry, format }: { entry: TranscriptEntry; format: BlockFormat }) {
  switch (entry.type) {
    case "prompt":
      return (
        <details className="folded">
          <summary>
            <Icon name="prompt" size={14} /> Prompt {entry.turn}
            <span className="muted">{count(entry.text.length)} characters</span>
          </summary>
          <LongText text={entry.text} max={20_000} mono />
        </details>
      );
    case "text":
      return <Said text={entry.text} format={format} />;
    case "tool":
      return (
        <span className="tool-line">
          <Icon name="tool" size={14} />
          <strong>
            <AgentText text={entry.name} max={60} />
          </strong>
          <span className="mono muted clip">
            <AgentText text={toolTarget(entry.input)} max={200} />
          </span>
        </span>
      );
    case "usage":
      return (
        <span className="aside-line">
          {count(entry.usage.inputTokens)} input tokens, {count(entry.usage.outputTokens)} output tokens
          {entry.usage.usd > 0 && `, ${money(entry.usage.usd)}`}
        </span>
      );
    case "ask":
      return (
        <div className="notice tone-you">
          <Icon name="question" />
          <LongText text={entry.question} max={2000} />
        </div>
      );
    case "agent":
      return (
        <span className="aside-line">
          <AgentText text={`${entry.agent} ${entry.version}`} max={120} />
        </span>
      );
    case "subagent":
      return (
        <span className="aside-line">
          Subagent {entry.phase === "started" ? "started" : "ended"}: <AgentText text={entry.id} max={120} />
        </span>
      );
    case "askCancelled":
      return <span className="aside-line">The agent withdrew its question</span>;
    case "trouble":
    case "stalled":
      return (
        <span className="aside-line tone-bad">
          <AgentText text={entry.detail} max={400} />
        </span>
      );
    case "unstartable":
      return (
        <span className="aside-line tone-bad">
          The agent could not start: <AgentText text={entry.error} max={400} />
        </span>
      );
    case "interrupted":
      return <span className="aside-line">Turn {entry.turn} was interrupted</span>;
    case "turnOver":
      return (
        <span className={`aside-line${entry.ending.kind === "ended" ? "" : " tone-bad"}`}>
          Turn {entry.turn} {entry.ending.kind === "ended" ? "ended" : "failed"}
          {entry.ending.kind !== "ended" && entry.ending.detail !== "" && (
            <>
              {": "}
              <AgentText text={entry.ending.detail} max={400} />
            </>
          )}
        </span>
      );
    default:
      // A newer server may send entry types that this page does not know.
      return null;
  }
}
