import { AnswerHead } from "./answer-head.tsx";
import { AnswerForm } from "../answer-form.tsx";
import { OrderButton } from "../../shell/order-button.tsx";
import { server } from "../../shell/server.ts";
import { shown } from "../../text/safe-text.ts";
import { capitalize } from "../../../../tutti/src/run/describe-event.ts";
import type { InboxItem } from "../../../../tutti/src/schema/inbox.ts";
import type { Run } from "../../../../tutti/src/schema/run.ts";

/** Lets the user supply the data of a phase that no session could provide, or retry the phase. The run then continues. */
export function DataCard({ item, run }: { item: InboxItem; run: Run }) {
  return (
    <section className="card question" aria-label="Missing data">
      <AnswerHead item={item} run={run} title="Data is missing" />
      <AnswerForm
        label="Data as a JSON object"
        submit="Submit data"
        mono
        isValid={(text) => readObject(text) !== null}
        send={(text) => server.answer(item.id, { data: readObject(text) ?? {}, hash: item.hash })}
      />
      <div className="answer-row">
        {(item.options ?? []).map((option, index) => (
          <OrderButton
            key={option}
            word={shown(capitalize(option), 60)}
            order={() => server.answer(item.id, { option: index, hash: item.hash })}
          />
        ))}
      </div>
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
