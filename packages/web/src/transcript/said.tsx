import { translate } from "../text/language.ts";
import { splitBlocks, type BlockFormat } from "./split-blocks.ts";
import { Icon } from "../parts/icon.tsx";
import { AgentMarkdown } from "../text/agent-markdown.tsx";
import { AgentText } from "../text/agent-text.tsx";
import { LongText } from "../text/long-text.tsx";

/** Reports to Tutti are folded by `splitBlocks`, so that the words around them stay readable. */
export function Said({ text, format }: { text: string; format: BlockFormat }) {
  return splitBlocks(text, format).map((part, index) =>
    part.kind === "words" ? (
      // Parts of a text never change their order, so `index` is a stable key.
      <AgentMarkdown key={index} text={part.text} />
    ) : (
      <details key={index} className="folded">
        <summary>
          <Icon name="file" size={14} /> {translate("Report")}
          <span className="muted">
            <AgentText text={part.phase} max={40} />
          </span>
        </summary>
        <LongText text={part.text} max={20_000} mono />
      </details>
    ),
  );
}
