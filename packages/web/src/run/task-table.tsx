import { translate } from "../text/language.ts";
import { memo } from "react";
import type { StatusStyle } from "./run-look.ts";
import { taskLook } from "./task-look.ts";
import { columnsOf, showsStatus } from "./template-look.ts";
import { Icon } from "../parts/icon.tsx";
import { useNow } from "../shell/use-now.ts";
import { AgentText } from "../text/agent-text.tsx";
import { AgentWords } from "../text/agent-words.tsx";
import { money } from "../text/format.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";

interface Properties {
  run: Run;
  opened: string | null;
  text: string;
  onFind: (text: string) => void;
  onOpen: (session: string) => void;
}

/** Unlike `TaskGraph`, suits the keyboard, screen readers and large plans. */
export function TaskTable({ run, opened, text, onFind, onOpen }: Properties) {
  const now = useNow(!isRunOver(run.status) && run.status !== "paused", 5000);
  const { ui } = run.template;
  const columns = columnsOf(ui);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = run.tasks
    .map((task) => {
      const worker = run.workers[task.id];
      return {
        ...taskLook(run, task),
        id: task.id,
        title: task.title,
        needs: task.dependencies.join(", "),
        cells: columns.map(({ text: textOf }) => `\n${worker ? textOf(worker, now) : ""}`).join(""),
        hasStatus: showsStatus(ui),
        cost: worker && worker.usage.usd > 0 ? money(worker.usage.usd) : "",
      };
    })
    .filter(({ id, title, word }) => {
      const searched = `${id} ${title} ${word}`.toLowerCase();
      return words.every((each) => searched.includes(each));
    });
  return (
    <div className="task-table">
      <input
        className="field"
        type="search"
        aria-label={translate("Find tasks")}
        placeholder={translate("Find tasks by name or state, such as failed")}
        value={text}
        onChange={({ target }) => onFind(target.value)}
      />
      <div className="task-table-rows" tabIndex={0} role="region" aria-label={translate("Table of tasks")}>
        <table>
          <thead>
            <tr>
              {showsStatus(ui) && <th scope="col">{translate("State")}</th>}
              <th scope="col">{translate("Task")}</th>
              <th scope="col">{translate("After")}</th>
              {columns.map(({ title }) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
              <th scope="col">{translate("Cost")}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <Row key={`${index} ${row.id}`} {...row} isOpen={opened === row.id} onOpen={onOpen} />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

interface RowProperties extends StatusStyle {
  id: string;
  title: string;
  needs: string;
  /** The texts of the template's columns, each after a line break. `memo` compares one text more easily than a list. */
  cells: string;
  hasStatus: boolean;
  cost: string;
  isOpen: boolean;
  onOpen: (session: string) => void;
}

/** `onOpen` does the same in all renders, so a new one needs no new row. */
const Row = memo(
  function Row({ id, title, needs, word, tone, icon, cells, hasStatus, cost, isOpen, onOpen }: RowProperties) {
    return (
      <tr className={isOpen ? "is-open" : undefined}>
        {hasStatus && (
          <td>
            <span className={`inline-mark tone-${tone}`}>
              <Icon name={icon === "spinner" ? "dot" : icon} size={14} />
              {word}
            </span>
          </td>
        )}
        <td>
          <button
            type="button"
            className="row-button"
            data-row={id}
            aria-current={isOpen ? "true" : undefined}
            onClick={() => onOpen(id)}
          >
            <code>{id}</code> <AgentWords text={title} max={160} />
          </button>
        </td>
        <td className="muted">
          <AgentText text={needs} max={120} />
        </td>
        {cells
          .split("\n")
          .slice(1)
          .map((cell, index) => (
            <td key={index}>{cell}</td>
          ))}
        <td>{cost}</td>
      </tr>
    );
  },
  ({ onOpen: _was, ...before }, { onOpen: _is, ...after }) =>
    Object.entries(after).every(([name, value]) => before[name as keyof typeof before] === value),
);
