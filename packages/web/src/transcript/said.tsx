import { splitBlocks, type BlockFormat } from "./split-blocks.ts";
import { Icon } from "../shell/icon.tsx";
import { AgentText } from "../text/agent-text.tsx";
import { LongText } from "../text/long-text.tsx";

/** What an agent said. Its reports to Tutti are folded away, since a person reads the words around them. */
export function Said({ text, format }: { text: string; format: BlockFormat }) {
  return splitBlocks(text, format).map((part, index) =>
    part.kind === "words" ? (
      // The parts of one text never change their order.
      <LongText key={index} text={part.text} />
    ) : (
      <details key={index} className="folded">
        <summary>
          <Icon name="file" size={14} /> Report
          <span className="muted">
            <AgentText text={part.phase} max={40} />
          </span>
        </summary>
        <LongText text={part.text} max={20_000} mono />
      </details>
    ),
  );
}
