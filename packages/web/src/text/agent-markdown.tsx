import { translate } from "./language.ts";
import { useState } from "react";
import { readMarkdown, type Inline } from "./markdown.ts";
import { count } from "./format.ts";
import { bounded, visible } from "./safe-text.ts";

/** A button reveals the text after `max` characters. Unlike `LongText`, renders a little Markdown. */
export function AgentMarkdown({ text, max = 4000 }: { text: string; max?: number }) {
  const [open, setOpen] = useState(false);
  const isComplete = open || text.length <= max;
  return (
    <div className="markdown" dir="auto">
      {readMarkdown(isComplete ? text : bounded(text, max)).map((block, index) => {
        // Blocks of a text never change their order, so `index` is a stable key.
        switch (block.kind) {
          case "code":
            return (
              <pre key={index} dir="ltr" tabIndex={0}>
                {visible(block.text)}
              </pre>
            );
          case "heading":
            return (
              <p key={index} className="markdown-heading">
                <Inlines inlines={block.inlines} />
              </p>
            );
          case "item":
            return (
              <p key={index} className="markdown-item" style={{ marginInlineStart: `${block.depth * 16}px` }}>
                <span aria-hidden="true">{block.mark} </span>
                <span>
                  <Inlines inlines={block.inlines} />
                </span>
              </p>
            );
          case "paragraph":
            return (
              <p key={index}>
                <Inlines inlines={block.inlines} />
              </p>
            );
        }
      })}
      {!isComplete && (
        <button type="button" className="button-link" onClick={() => setOpen(true)}>
          {translate("Show all {length} characters", { length: count(text.length) })}
        </button>
      )}
    </div>
  );
}

function Inlines({ inlines }: { inlines: Inline[] }) {
  return inlines.map(({ kind, text }, index) => {
    const words = visible(text);
    if (kind === "code") return <code key={index}>{words}</code>;
    return kind === "strong" ? <strong key={index}>{words}</strong> : <span key={index}>{words}</span>;
  });
}
