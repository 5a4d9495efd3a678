import { isValidElement } from "react";
import { AgentText } from "../text/agent-text.tsx";

interface Properties {
  /** Rows without a value are left out. Words of agents are `AgentWords`. */
  rows: readonly (readonly [name: string, value: unknown])[];
}

export function FactList({ rows }: Properties) {
  const known = rows.filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false);
  if (known.length === 0) return null;
  return (
    <dl className="evidence">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{isValidElement(value) ? value : <AgentText text={String(value)} max={600} />}</dd>
        </div>
      ))}
    </dl>
  );
}
