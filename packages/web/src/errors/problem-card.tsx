import { translate } from "../text/language.ts";
import type { ReactNode } from "react";
import { describeProblem } from "./problem.ts";
import { Icon } from "../parts/icon.tsx";
import { AgentText } from "../text/agent-text.tsx";

interface Properties {
  error: unknown;
  retry: () => void;
  /** Another way on, for an error that trying again does not mend. */
  children?: ReactNode;
}

export function ProblemCard({ error, retry, children }: Properties) {
  const { title, advice } = describeProblem(error);
  return (
    <section className="card empty" role="alert">
      <Icon name="warning" size={24} />
      <h1>
        <AgentText text={title} max={300} />
      </h1>
      {advice && <p>{advice}</p>}
      <button type="button" className="button" onClick={retry}>
        {translate("Try again")}
      </button>
      {children}
    </section>
  );
}
