import { say, translate } from "../text/language.ts";
import type { AnyItem } from "./item-look.ts";
import { VersionLinks } from "../changes/version-links.tsx";
import { FactList } from "../parts/fact-list.tsx";
import { AgentText } from "../text/agent-text.tsx";
import { AgentQuote, AgentWords } from "../text/agent-words.tsx";
import { compact, count, money, moment } from "../text/format.ts";
import { LongText } from "../text/long-text.tsx";
import { MixedList, MixedText } from "../text/mixed-text.tsx";
import { shown } from "../text/safe-text.ts";
import type { PlanEstimate } from "../../../tutti/src/run/plan/estimate.ts";
import type { Budget } from "../../../tutti/src/schema/budget.ts";
import type { Task } from "../../../tutti/src/schema/task.ts";

type Facts = Record<string, unknown>;

/** Shows the facts that an answer needs, by the kind of the item. `evidence` of an unknown kind is shown as it is. */
export function ItemEvidence({ item }: { item: AnyItem }) {
  const { kind, evidence } = item;
  if (typeof evidence !== "object" || evidence === null) return null;
  const facts = evidence as Facts;
  switch (kind) {
    case "plan":
      return <PlanEvidence facts={facts} />;
    case "permission":
      return (
        <FactList
          rows={[
            [translate("Tool"), words(facts["tool"])],
            [translate("Subject"), words(facts["subject"])],
          ]}
        />
      );
    case "budget": {
      const unit = facts["kind"] === "usd" ? "$" : typeof facts["kind"] === "string" ? say(facts["kind"]) : "";
      const amount = (value: unknown) => (unit === "$" ? money(Number(value)) : `${count(Number(value))} ${unit}`);
      return (
        <FactList
          rows={[
            [translate("Used"), amount(facts["used"])],
            [translate("Limit"), amount(facts["limit"])],
          ]}
        />
      );
    }
    case "limit":
      return (
        <FactList
          rows={[
            [translate("Provider"), facts["provider"]],
            [translate("Ends"), typeof facts["resetAt"] === "number" ? moment(facts["resetAt"]) : null],
            [
              translate("Resumes by itself"),
              facts["autoResume"] === undefined ? null : translate(facts["autoResume"] ? "yes" : "no"),
            ],
            [translate("Advice"), typeof facts["advice"] === "string" ? say(facts["advice"]) : null],
          ]}
        />
      );
    case "gate":
      return (
        <FactList
          rows={[
            [translate("Environment"), facts["environment"]],
            [translate("Reasons"), <MixedList key="reasons" texts={stringsOf(facts["reasons"])} />],
          ]}
        />
      );
    case "failure":
      return (
        <FactList
          rows={[
            [translate("Attempt"), facts["attempt"]],
            [translate("Retries"), facts["retryCount"]],
            [translate("Code"), facts["code"]],
          ]}
        />
      );
    case "decision": {
      const sides = Array.isArray(facts["sides"]) ? (facts["sides"] as ConflictSide[]) : [];
      const named = Array.isArray(facts["tasks"]) ? facts["tasks"] : sides.map(({ taskId }) => taskId);
      const tasks = named.filter((id) => typeof id === "string");
      return (
        <>
          <FactList
            rows={[
              [translate("Kind"), words(facts["type"])],
              [translate("Files"), list(facts["files"])],
              [translate("Tasks"), list(tasks)],
            ]}
          />
          {sides.length > 0 && (
            <div className="evidence-sides">
              {sides.map((side) => (
                <Side key={side.taskId} side={side} />
              ))}
            </div>
          )}
          {tasks.length > 0 && (
            <p>
              {translate("See the version of")}{" "}
              <VersionLinks run={item.run} tasks={tasks} files={stringsOf(facts["files"])} />.
            </p>
          )}
        </>
      );
    }
    default:
      return (
        <AgentQuote>
          <LongText text={JSON.stringify(evidence, null, 2)} max={2000} mono />
        </AgentQuote>
      );
  }
}

const words = (value: unknown) => (typeof value === "string" ? <AgentWords text={value} max={600} /> : value);

const stringsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];

const list = (value: unknown, separator = ", "): string | null =>
  Array.isArray(value) && value.length > 0 ? value.join(separator) : null;

/** `summary` is the claim of the worker. `ref` keeps its version. */
interface ConflictSide {
  taskId: string;
  title?: string;
  description?: string;
  summary?: string;
  ref?: string;
}

function Side({ side: { taskId, title, description, summary, ref } }: { side: ConflictSide }) {
  return (
    <section aria-label={translate("Side of {taskId}", { taskId })}>
      <h3>
        <code>{shown(taskId, 100)}</code> {title !== undefined && <AgentWords text={title} max={120} />}
      </h3>
      {description !== undefined && (
        <div className="agent-words">
          <LongText text={description} max={400} />
        </div>
      )}
      <FactList
        rows={[
          [translate("The worker says"), words(summary)],
          [translate("Version"), ref],
        ]}
      />
    </section>
  );
}

const MOST_TASKS = 12;

function PlanEvidence({ facts }: { facts: Facts }) {
  const tasks = Array.isArray(facts["tasks"]) ? (facts["tasks"] as Task[]) : [];
  const estimate = facts["estimate"] as PlanEstimate | null | undefined;
  return (
    <>
      {estimate && <PlanTerms estimate={estimate} budget={(facts["budget"] as Budget | undefined) ?? {}} />}
      <ol className="evidence-tasks">
        {tasks.slice(0, MOST_TASKS).map(({ id, title, dependencies }, index) => (
          <li key={`${index} ${id}`}>
            <code>{id}</code>
            <span>
              <AgentWords text={title} max={120} />
              {dependencies.length > 0 && (
                <span className="muted">
                  {" "}
                  {translate("after")} <AgentText text={dependencies.join(", ")} max={200} />
                </span>
              )}
            </span>
          </li>
        ))}
        {tasks.length > MOST_TASKS && (
          <li className="muted">{translate("and {count} more", { count: tasks.length - MOST_TASKS })}</li>
        )}
      </ol>
    </>
  );
}

export const budgetLimits = ({ usd, tokens, minutes, turns }: Budget): string[] =>
  [
    usd === undefined ? "" : money(usd),
    tokens === undefined ? "" : translate("{tokens} tokens", { tokens: compact(tokens) }),
    minutes === undefined ? "" : translate("{minutes} min", { minutes: count(minutes) }),
    turns === undefined ? "" : translate("{turns} turns", { turns: count(turns) }),
  ].filter((limit) => limit !== "");

interface PlanTermsProperties {
  estimate: PlanEstimate;
  budget: Budget;
  hasTokens?: boolean;
}

/** The terms that a confirmation approves: time, cost, the longest chain and the budget. */
export function PlanTerms({ estimate, budget, hasTokens = true }: PlanTermsProperties) {
  const { minutes, usd, tokens, criticalPath, criticalMinutes, basis, samples, advice } = estimate;
  const limits = budgetLimits(budget);
  const origin =
    basis === "history"
      ? translate("from {samples} earlier tasks", { samples: count(samples) })
      : translate("a guess, without earlier tasks");
  return (
    <>
      <FactList
        rows={[
          [
            translate("Estimate"),
            translate("{minutes} min, {usd}{tokens} ({origin})", {
              minutes: count(Math.ceil(minutes)),
              usd: money(usd),
              tokens: hasTokens ? `, ${translate("{tokens} tokens", { tokens: compact(tokens) })}` : "",
              origin,
            }),
          ],
          [translate("Budget"), limits.length === 0 ? translate("no limit") : limits.join(", ")],
          [
            translate("Longest chain"),
            translate("{chain} ({minutes} min)", {
              chain: criticalPath.join(" → "),
              minutes: count(Math.ceil(criticalMinutes)),
            }),
          ],
        ]}
      />
      {advice.map((sentence) => (
        <p key={sentence} className="muted">
          <MixedText text={sentence} isOfTutti />
        </p>
      ))}
    </>
  );
}
