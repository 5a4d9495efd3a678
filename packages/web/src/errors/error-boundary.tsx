import { translate } from "../text/language.ts";
import { Component, type ReactNode } from "react";
import { Notice } from "../parts/notice.tsx";
import { describeProblem } from "./problem.ts";
import { shown } from "../text/safe-text.ts";

interface Properties {
  /** Names the part in the error message, for example "The graph". */
  part?: string;
  children: ReactNode;
}

export class ErrorBoundary extends Component<Properties, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    const { part = translate("This page"), children } = this.props;
    if (this.state.error === null) return children;
    return (
      <Notice tone="bad">
        {translate("{part} cannot be shown: {advice} ", {
          part,
          advice: shown(describeProblem(this.state.error).advice, 300),
        })}
        <button type="button" className="button-link" onClick={() => this.setState({ error: null })}>
          {translate("Show it again")}
        </button>
      </Notice>
    );
  }
}
