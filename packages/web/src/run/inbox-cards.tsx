// `InboxCards` shows the open items of a run except its plan, which has `PlanCard`. Items that stop the run come first;
// failed tasks share one card.
import { translate } from "../text/language.ts";
import { useRef } from "react";
import { ItemCard } from "../inbox/item-card.tsx";
import { costOf } from "../inbox/item-look.ts";
import { ErrorBoundary } from "../errors/error-boundary.tsx";
import { Icon } from "../parts/icon.tsx";
import { OrderButton } from "../shell/order-button.tsx";
import { server } from "../shell/server.ts";
import { AgentWords } from "../text/agent-words.tsx";
import { FailureText } from "../text/failure-text.tsx";
import { plural } from "../text/format.ts";
import { canResumeMain } from "../../../tutti/src/run/lifecycle.ts";
import { canRetry } from "../../../tutti/src/run/rules/retry.ts";
import type { InboxItem } from "../../../tutti/src/schema/inbox.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";

export function InboxCards({ run }: { run: Run }) {
  const items = Object.values(run.inbox).filter(({ kind }) => kind !== "plan");
  const failures = items.filter(({ kind, taskId }) => kind === "failure" && taskId !== null);
  const others = items
    .filter((item) => !failures.includes(item))
    .toSorted((a, b) => costOf(b) - costOf(a) || a.createdAt - b.createdAt);
  // `ResultCard` has the reasons of a run that is over, so the tasks are only listed.
  const single = failures.length === 1 && !isRunOver(run.status) ? failures : [];
  const cards = [...others, ...single];
  // The keys stay with their item when a more costly one arrives: the user may be about to press one.
  const keyed = useRef<string | undefined>(undefined);
  if (!cards.some(({ id }) => id === keyed.current)) keyed.current = cards[0]?.id;
  return (
    <>
      {cards.map((item) => (
        <ErrorBoundary key={item.id} part={translate("This item")}>
          <ItemCard
            item={item}
            task={run.tasks.find(({ id }) => id === item.taskId)?.title}
            hasKeys={item.id === keyed.current && run.status !== "confirming"}
            // Option 0 of a failure is the retry, which the server rejects unless `canTryAgain`.
            isImpossible={(option) => item.kind === "failure" && option === 0 && !canTryAgain(run, item)}
          />
        </ErrorBoundary>
      ))}
      {failures.length > single.length && <FailedTasks run={run} failures={failures} />}
    </>
  );
}

const canTryAgain = (run: Run, { taskId }: InboxItem): boolean =>
  taskId === null ? canResumeMain(run) : canRetry(run, taskId);

function FailedTasks({ run, failures }: { run: Run; failures: InboxItem[] }) {
  const possible = failures.filter((item) => canTryAgain(run, item));
  const isOver = isRunOver(run.status);
  const titleOf = ({ taskId }: InboxItem) => run.tasks.find(({ id }) => id === taskId)?.title ?? "";
  const answer = (items: InboxItem[], option: number) => async () => {
    for (const { id, hash } of items) await server.answer(id, { option, hash });
  };
  return (
    <section className="card question" aria-label={translate("Failed tasks")}>
      <header className="plan-head is-failure">
        <Icon name="warning" size={20} />
        <div>
          <h2>{translate("{tasks} did not complete", { tasks: plural(failures.length, "task") })}</h2>
        </div>
        <div className="run-actions">
          {failures.length > 1 && (
            <OrderButton
              word={translate("Leave all")}
              command={failures.map(({ id }) => `tutti answer ${id} --option 1`).join("; ")}
              order={answer(failures, 1)}
            />
          )}
          {failures.length > 1 && (
            <OrderButton
              word={translate("Retry all failed")}
              primary
              disabled={possible.length === 0}
              command={possible.map(({ id }) => `tutti answer ${id} --option 0`).join("; ")}
              reason={possible.length === 0 ? translate("The run merges or verifies now.") : undefined}
              order={answer(possible, 0)}
            />
          )}
        </div>
      </header>
      <ul className="failed-tasks">
        {failures.map((item) => (
          <li key={item.id}>
            <code>{item.taskId}</code>
            {isOver ? <AgentWords text={titleOf(item)} max={300} /> : <FailureText {...failureOf(item)} />}
            <OrderButton
              word={translate("Leave it")}
              label={translate("Leave it: {taskId}", { taskId: item.taskId ?? "" })}
              command={`tutti answer ${item.id} --option 1`}
              order={answer([item], 1)}
            />
            <OrderButton
              word={translate("Try it again")}
              label={translate("Try it again: {taskId}", { taskId: item.taskId ?? "" })}
              primary={failures.length === 1}
              disabled={!canTryAgain(run, item)}
              command={`tutti answer ${item.id} --option 0`}
              order={answer([item], 0)}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

function failureOf({ evidence, question }: InboxItem): { error: string; code: string | undefined } {
  const { error = question, code } = (evidence ?? {}) as { error?: string; code?: string };
  return { error, code };
}
