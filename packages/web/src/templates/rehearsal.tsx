import { translate } from "../text/language.ts";
import { useState } from "react";
import { FactList } from "../parts/fact-list.tsx";
import { OrderButton } from "../shell/order-button.tsx";
import { server } from "../shell/server.ts";
import { duration } from "../text/format.ts";
import { LongText } from "../text/long-text.tsx";
import type { Rehearsal as RehearsalReport } from "../../../tutti/src/schema/api/template-routes.ts";

/** `rehearse` runs the template with scripted agents: no model is called, and nothing is stored. */
export function Rehearsal({ id }: { id: string }) {
  const [report, setReport] = useState<RehearsalReport | null>(null);
  return (
    <div className="rehearsal">
      <OrderButton
        word={translate("Rehearse")}
        command={`tutti rehearse ${id}`}
        order={async () =>
          setReport(await server.call("POST /api/orchestrator/templates/:id/rehearse", { params: { id }, body: {} }))
        }
      />
      {report && (
        <>
          <FactList
            rows={[
              [translate("Outcome"), report.outcome ?? report.status],
              [translate("Tasks"), report.tasks.map(({ id: task }) => task).join(", ")],
              [translate("Not started"), report.notStarted.map(({ name }) => name).join(", ")],
              [translate("Time"), duration(report.durationMs)],
            ]}
          />
          {report.prompts.map(({ phase, taskId, turn, text }) => (
            <details key={`${phase} ${taskId} ${turn}`} className="folded">
              <summary>
                {translate("Prompt of {phase}{task}", { phase, task: taskId === null ? "" : `, ${taskId}` })}
              </summary>
              <LongText text={text} max={20_000} mono />
            </details>
          ))}
        </>
      )}
    </div>
  );
}
