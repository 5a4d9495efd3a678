import { useId, useRef } from "react";
import { RunRow } from "./run-row.tsx";
import { useVisibleRows } from "./use-visible-rows.ts";
import type { StatusStyle } from "../run/run-look.ts";
import type { ListedRun } from "../../../tutti/src/client/run-summary.ts";

interface Properties {
  title: string | null;
  runs: ListedRun[];
  lookOf: (run: ListedRun) => StatusStyle;
  questions: ReadonlyMap<string, number>;
  waits: ReadonlyMap<string, string>;
  now: number;
  selected: ReadonlySet<string>;
  onSelect: (id: string, isSelected: boolean) => void;
}

export function RunGroup({ title, runs, lookOf, questions, waits, now, selected, onSelect }: Properties) {
  const heading = useId();
  const list = useRef<HTMLUListElement>(null);
  const { from, to, height } = useVisibleRows(list, runs.length);
  if (runs.length === 0) return null;
  return (
    <section aria-labelledby={title ? heading : undefined}>
      {title && (
        <h2 id={heading} className="group-title">
          {title} <span className="muted">{runs.length}</span>
        </h2>
      )}
      <ul className="run-rows card" ref={list}>
        {from > 0 && <li className="run-space" aria-hidden="true" style={{ height: from * height }} />}
        {runs.slice(from, to).map((run, index) => (
          <RunRow
            key={run.id}
            run={run}
            look={lookOf(run)}
            index={from + index}
            count={runs.length}
            questions={questions.get(run.id) ?? 0}
            wait={waits.get(run.id)}
            now={now}
            isSelected={selected.has(run.id)}
            onSelect={onSelect}
          />
        ))}
        {to < runs.length && (
          <li className="run-space" aria-hidden="true" style={{ height: (runs.length - to) * height }} />
        )}
      </ul>
    </section>
  );
}
