import { useState } from "react";
import { Badge } from "./badge.tsx";
import { CopyLine } from "./copy-line.tsx";
import { Dialog } from "./dialog.tsx";
import { FactList } from "./fact-list.tsx";
import { FormField } from "./form-field.tsx";
import { SHAPES, type IconName } from "./icon-shapes.ts";
import { Icon } from "./icon.tsx";
import { Meter } from "./meter.tsx";
import { Notice } from "./notice.tsx";
import { NumberField } from "./number-field.tsx";
import { AskedButton } from "../shell/asked-button.tsx";
import { OrderButton } from "../shell/order-button.tsx";
import { AgentMarkdown } from "../text/agent-markdown.tsx";
import { AgentQuote, AgentWords } from "../text/agent-words.tsx";
import { LongText } from "../text/long-text.tsx";
import { usePageTitle } from "../text/use-page-title.ts";
import type { Severity } from "../../../tutti/src/run/describe-event.ts";
import "../styles/run.css";
import "../styles/parts.css";

const TONES: readonly Severity[] = ["neutral", "running", "good", "warning", "bad", "you"];
const THEMES = { light: "Light", dark: "Dark" } as const;

/** Shows every part in both `THEMES`, for a look at all of them after a change of styles. */
export function PartsPage() {
  usePageTitle("Parts");
  return (
    <div className="page">
      <div className="page-title">
        <h1>Parts</h1>
      </div>
      <div className="parts-themes">
        {Object.entries(THEMES).map(([theme, name]) => (
          <section key={theme} className={`parts-theme is-${theme}`} aria-label={`${name} theme`}>
            <h2>{name}</h2>
            <Parts theme={name} />
          </section>
        ))}
      </div>
    </div>
  );
}

function Parts({ theme }: { theme: string }) {
  const [amount, setAmount] = useState("3");
  const [isOpen, setOpen] = useState(false);
  const nothing = async () => {};
  return (
    <>
      <div className="parts-row">
        <button type="button" className="button">
          Button
        </button>
        <button type="button" className="button button-primary">
          Primary
        </button>
        <button type="button" className="button button-danger">
          Danger
        </button>
        <button type="button" className="button is-small is-chosen">
          Chosen
        </button>
        <button type="button" className="button" disabled>
          Disabled
        </button>
        <OrderButton word="Order" shortcut="a" order={nothing} />
        <OrderButton word="Refused" order={() => Promise.reject(new Error("The order was refused."))} />
        <AskedButton word="Asks first" question="Really?" yes="Yes" order={nothing} />
        <button type="button" className="button" onClick={() => setOpen(true)}>
          Dialog
        </button>
      </div>
      <div className="parts-row">
        {TONES.map((tone) => (
          <Badge key={tone} tone={tone} icon="dot">
            {tone}
          </Badge>
        ))}
        <span className="chip">chip</span>
        <kbd>k</kbd>
        <code>code</code>
      </div>
      {TONES.map((tone) => (
        // `Notice` of tone `bad` would be announced as an alert, and this page only shows the look.
        <div key={tone}>
          {tone === "bad" ? <div className="notice tone-bad">bad</div> : <Notice tone={tone}>{tone}</Notice>}
        </div>
      ))}
      <Meter value={40} tone="running" label={`Progress, ${theme}`} />
      <CopyLine label={`Command, ${theme}`} text="tutti list" />
      <FactList
        rows={[
          ["Name", "value"],
          ["Long name", "a value that needs more than one line where the page is narrow"],
        ]}
      />
      <FormField name={`Field, ${theme}`} note="A note below the field.">
        {(id) => <input id={id} className="field" placeholder="Placeholder" />}
      </FormField>
      <NumberField name={`Number, ${theme}`} min={0} placeholder="none" value={amount} onChange={setAmount} />
      <div className="tabs">
        <span className="tab is-here">Tab</span>
        <span className="tab">Another</span>
      </div>
      <details className="folded" open>
        <summary>Folded</summary>
        <p>Content</p>
      </details>
      <AgentQuote>
        <AgentMarkdown text={"Words of an agent with `code` and **weight**.\n\n- an item"} />
      </AgentQuote>
      <p>
        Within a line: <AgentWords text="words of an agent" />
      </p>
      <LongText text={"A long text\nwith lines"} mono />
      <div className="parts-row muted">
        {(Object.keys(SHAPES) as IconName[]).map((name) => (
          <Icon key={name} name={name} />
        ))}
      </div>
      {isOpen && (
        <Dialog title="Dialog" onClose={() => setOpen(false)}>
          <p>Content</p>
        </Dialog>
      )}
    </>
  );
}
