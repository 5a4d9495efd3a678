import { useId, type ReactNode } from "react";
import { AgentText } from "../text/agent-text.tsx";

interface Properties {
  name: string;
  note?: string;
  children: (id: string) => ReactNode;
}

export function FormField({ name, note = "", children }: Properties) {
  const id = useId();
  return (
    <div className="form-field">
      <label htmlFor={id}>{name}</label>
      {children(id)}
      {note !== "" && (
        <p className="muted">
          <AgentText text={note} max={400} />
        </p>
      )}
    </div>
  );
}
