import { say, translate } from "../text/language.ts";
import { useId } from "react";
import { ItemAnswer } from "./item-answer.tsx";
import { ItemEvidence } from "./item-evidence.tsx";
import { ItemTerms } from "./item-terms.tsx";
import { lookOf, titleOf, type AnyItem } from "./item-look.ts";
import { Icon } from "../parts/icon.tsx";
import { AgentQuote, AgentWords } from "../text/agent-words.tsx";
import { LongText } from "../text/long-text.tsx";
import { splitSentence } from "../text/mixed-sentence.ts";
import { MixedText } from "../text/mixed-text.tsx";
import { describeQuestion } from "../../../tutti/src/run/describe-event.ts";

/** These questions hold no words of an agent. */
const OF_TUTTI: ReadonlySet<string> = new Set(["budget", "plan"]);
/** Tutti writes the questions of these kinds, around words of an agent. Agents write those of all others. */
const MIXED: ReadonlySet<string> = new Set(["failure", "limit", "data", "validation", "host", "gate"]);

interface Properties {
  item: AnyItem;
  task?: string | undefined;
  hasKeys?: boolean;
  isImpossible?: (option: number) => boolean;
}

export function ItemCard({ item, task, hasKeys = false, isImpossible }: Properties) {
  const look = lookOf(item);
  const heading = useId();
  const isFailure = item.kind === "failure";
  return (
    <section
      className={`card question${isFailure ? "" : " needs-you"}`}
      // Each landmark needs a name of its own, also among several questions, hence `item.index`.
      aria-label={`${look.label}${item.taskId === null ? "" : translate(" of {taskId}", { taskId: item.taskId })}${item.index ? ` ${item.index + 1}` : ""}`}
      aria-describedby={heading}
    >
      <header className={`plan-head${isFailure ? " is-failure" : ""}`}>
        <Icon name={look.icon} size={20} />
        <div>
          <h2 id={heading}>
            {titleOf(item)}
            {task !== undefined && (
              <span className="muted">
                {" "}
                <AgentWords text={task} max={100} />
              </span>
            )}
          </h2>
          {OF_TUTTI.has(item.kind) ? (
            <LongText text={describeQuestion(item, say)} max={2000} />
          ) : MIXED.has(item.kind) && splitSentence(item.question) !== null ? (
            <p className="long-text">
              <MixedText text={item.question} max={2000} />
            </p>
          ) : (
            <AgentQuote>
              <LongText text={describeQuestion(item, say)} max={2000} />
            </AgentQuote>
          )}
          <ItemTerms item={item} />
        </div>
      </header>
      <ItemEvidence item={item} />
      <ItemAnswer item={item} hasKeys={hasKeys} {...(isImpossible && { isImpossible })} />
    </section>
  );
}
