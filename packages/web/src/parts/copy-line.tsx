import { translate } from "../text/language.ts";
import { useState } from "react";
import { Icon } from "./icon.tsx";
import { copyText } from "../text/copy-text.ts";

export function CopyLine({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <div className="copy-line">
      <input readOnly className="mono" value={text} aria-label={label} onFocus={(event) => event.target.select()} />
      <button
        type="button"
        className="button-icon"
        aria-label={copied ? translate("Copied") : translate("Copy: {label}", { label })}
        onClick={() => void copy().catch(() => setCopied(false))}
      >
        <Icon name={copied ? "check" : "copy"} />
      </button>
    </div>
  );
}
