import { useId, type ReactNode } from "react";
import { AgentText } from "../text/agent-text.tsx";

interface Properties {
  name: string;
  note?: string;
  /** Receives the id that the label names. */
  children: (id: string) => ReactNode;
}

/** A field of a form with its label and a note. */
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
