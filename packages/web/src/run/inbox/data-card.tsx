import { useId, useState, type FormEvent } from "react";
import { AnswerHead } from "./answer-head.tsx";
import { ActionError } from "../../shell/action-error.tsx";
import { server } from "../../shell/server.ts";
import { useAction } from "../../shell/use-action.ts";
import type { InboxItem } from "../../../../tutti/src/schema/inbox.ts";
import type { Run } from "../../../../tutti/src/schema/run.ts";

/** Lets the user supply the data of a phase that no session could provide. The run then continues. */
export function DataCard({ item, run }: { item: InboxItem; run: Run }) {
  const [text, setText] = useState("");
  const field = useId();
  const data = readObject(text);
  const answer = useAction(() => server.answer(item.id, { data: data ?? {}, hash: item.hash }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (data) answer.run();
  };
  return (
    <section className="card question" aria-label="Missing data">
      <AnswerHead item={item} run={run} title="Data is missing" />
      <form className="answer" onSubmit={submit}>
        <label htmlFor={field} className="muted">
          Data as a JSON object
        </label>
        <textarea
          id={field}
          className="mono"
          rows={4}
          value={text}
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
        />
        <div className="answer-row">
          <button type="submit" className="button button-primary" disabled={answer.busy || data === null}>
            Submit data
          </button>
        </div>
        <ActionError error={answer.error} />
      </form>
    </section>
  );
}

function readObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
