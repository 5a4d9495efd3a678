// Words of agents have one mark everywhere, because a decision must not rest on a sentence that looks like Tutti's own.
// `AgentText` is for untrusted text that is no agent's words, such as names and the user's own request.
import { translate } from "./language.ts";
import type { ReactNode } from "react";
import { shown } from "./safe-text.ts";

/** Words within a line, truncated to `max`. */
export function AgentWords({ text, max = 300 }: { text: string; max?: number }) {
  return <bdi className="agent-text agent-words is-inline">{shown(text, max)}</bdi>;
}

/** Words as a block. Screen readers say its mark; in a line it would interrupt every title. */
export function AgentQuote({ children, isMuted = false }: { children: ReactNode; isMuted?: boolean }) {
  return (
    <div className={`agent-words${isMuted ? " muted" : ""}`}>
      <span className="visually-hidden">{translate("Words of an agent:")} </span>
      {children}
    </div>
  );
}
