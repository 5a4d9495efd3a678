import { say, translate } from "../text/language.ts";
import { Said } from "./said.tsx";
import type { BlockFormat } from "./split-blocks.ts";
import { toolTarget } from "./tool-target.ts";
import { withDetail } from "../../../tutti/src/run/describe-event.ts";
import type { TranscriptEntry } from "../../../tutti/src/schema/transcript.ts";
import { Icon } from "../parts/icon.tsx";
import { AgentText } from "../text/agent-text.tsx";
import { count, money } from "../text/format.ts";
import { LongText } from "../text/long-text.tsx";

interface Properties {
  entry: TranscriptEntry;
  result: string | undefined;
  format: BlockFormat;
}

export function Entry({ entry, result, format }: Properties) {
  switch (entry.type) {
    case "prompt":
      return (
        <details className="folded">
          <summary>
            <Icon name="prompt" size={14} /> {translate("Prompt")} {entry.turn}
            <span className="muted">{translate("{length} characters", { length: count(entry.text.length) })}</span>
          </summary>
          <LongText text={entry.text} max={20_000} mono />
        </details>
      );
    case "text":
      return <Said text={entry.text} format={format} />;
    case "tool":
      return result === undefined ? (
        <ToolLine name={entry.name} input={entry.input} />
      ) : (
        <details className="folded">
          <summary>
            <ToolLine name={entry.name} input={entry.input} />
          </summary>
          <LongText text={result} max={20_000} mono />
        </details>
      );
    case "toolResult":
      return (
        <details className="folded">
          <summary>{translate("Result of an earlier call")}</summary>
          <LongText text={entry.text} max={20_000} mono />
        </details>
      );
    case "usage": {
      const { inputTokens, outputTokens, usd } = entry.usage;
      const cost = usd > 0 ? `, ${money(usd)}` : "";
      return (
        <Aside
          text={translate("{inputTokens} input tokens, {outputTokens} output tokens{cost}", {
            inputTokens: count(inputTokens),
            outputTokens: count(outputTokens),
            cost,
          })}
        />
      );
    }
    case "ask":
      return (
        <div className="notice tone-you">
          <Icon name="question" />
          <LongText text={entry.question} max={2000} />
        </div>
      );
    case "steered":
      return (
        <div className="notice tone-neutral">
          <Icon name="prompt" />
          <LongText text={entry.text} max={2000} />
        </div>
      );
    case "agent":
      return <Aside text={`${entry.agent} ${entry.version}`} />;
    case "subagent":
      return (
        <Aside
          text={translate(entry.phase === "started" ? "Subagent started: {text}" : "Subagent ended: {text}", {
            text: entry.text ?? entry.id,
          })}
        />
      );
    case "toolFailed":
      return <Aside text={withDetail(translate("The tool call failed"), entry.error, say)} bad />;
    case "askCancelled":
      return <Aside text={translate("The agent withdrew its question")} />;
    case "trouble":
    case "stalled":
      return <Aside text={entry.detail} bad />;
    case "unstartable":
      return <Aside text={translate("The agent could not start: {error}", { error: entry.error })} bad />;
    case "interrupted":
      return <Aside text={translate("Turn {turn} was interrupted", { turn: entry.turn })} />;
    case "turnOver": {
      const { kind, detail } = entry.ending;
      return kind === "ended" ? (
        <Aside text={translate("Turn {turn} ended", { turn: entry.turn })} />
      ) : (
        <Aside text={withDetail(translate("Turn {turn} failed", { turn: entry.turn }), detail, say)} bad />
      );
    }
    default:
      // A newer server may send an `entry.type` that this page does not know.
      return null;
  }
}

function ToolLine({ name, input }: { name: string; input: unknown }) {
  return (
    <span className="tool-line">
      <Icon name="tool" size={14} />
      <strong>
        <AgentText text={name} max={60} />
      </strong>
      <span className="mono muted clip">
        <AgentText text={toolTarget(input)} max={200} />
      </span>
    </span>
  );
}

function Aside({ text, bad = false }: { text: string; bad?: boolean }) {
  return (
    <span className={`aside-line${bad ? " tone-bad" : ""}`}>
      <AgentText text={text} max={400} />
    </span>
  );
}
