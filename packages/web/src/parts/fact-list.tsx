import { AgentText } from "../text/agent-text.tsx";

interface Properties {
  /** Rows without a value are left out. */
  rows: readonly (readonly [name: string, value: unknown])[];
}

export function FactList({ rows }: Properties) {
  const known = rows.filter(([, value]) => value !== undefined && value !== null && value !== "");
  if (known.length === 0) return null;
  return (
    <dl className="evidence">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <AgentText text={String(value)} max={600} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
