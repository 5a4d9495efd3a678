import { useId } from "react";
import { RunRow } from "./run-row.tsx";
import type { ListedRun } from "../../../tutti/src/client/run-summary.ts";

interface Properties {
  title: string | null;
  runs: ListedRun[];
  questions: ReadonlyMap<string, number>;
  now: number;
  selected: ReadonlySet<string>;
  onSelect: (id: string, isSelected: boolean) => void;
}

export function RunGroup({ title, runs, questions, now, selected, onSelect }: Properties) {
  const heading = useId();
  if (runs.length === 0) return null;
  return (
    <section aria-labelledby={title ? heading : undefined}>
      {title && (
        <h2 id={heading} className="group-title">
          {title} <span className="muted">{runs.length}</span>
        </h2>
      )}
      <ul className="run-rows card">
        {runs.map((run) => (
          <RunRow
            key={run.id}
            run={run}
            questions={questions.get(run.id) ?? 0}
            now={now}
            isSelected={selected.has(run.id)}
            onSelect={onSelect}
          />
        ))}
      </ul>
    </section>
  );
}
