// A person's answer to something in the inbox: what it may be depends on what was asked, and it counts once.
import { extended } from "./budget.ts";
import { confirm, refused, requestChanges } from "./confirm.ts";
import { answered, withdraw } from "./inbox.ts";
import { cancel, resumed, stillAsks } from "./lifecycle.ts";
import { noAmong, yesAmong } from "./permission.ts";
import { LIMIT_OPTIONS } from "./provider.ts";
import { retry } from "./retry.ts";
import { Budget, type BudgetKind } from "../schema/budget.ts";
import { TuttiError } from "../schema/error.ts";
import type { Decision, RunEvent } from "../schema/event.ts";
import type { InboxItem, PersonAnswer } from "../schema/inbox.ts";
import type { Run } from "../schema/run.ts";

export function answerItem(
  run: Run,
  itemId: string,
  answer: PersonAnswer,
  at: number,
  by: "person" | "clock" = "person",
): RunEvent[] {
  const item = Object.hasOwn(run.inbox, itemId) ? run.inbox[itemId]! : null;
  if (!item) throw new TuttiError("item_not_found", `nothing waits under ${itemId}`);
  if (answer.hash !== undefined && answer.hash !== item.hash) {
    throw refused(run, "answered", `what waits under ${itemId} is not what was shown`);
  }
  switch (item.kind) {
    case "question":
      return [answered(run, item, wordsOf(item, answer))];
    case "permission":
      return [answered(run, item, permissionOf(item, answer))];
    case "limit":
      return answerLimit(run, item, answer, by);
    case "plan":
      return answerPlan(run, answer);
    case "decision":
      return decideAll(run, [{ item, answer: wordsOf(item, answer) }]);
    case "budget":
      return answerBudget(run, item, answer, at);
    case "failure":
      return answerFailure(run, item, answer);
    case "data":
      throw refused(run, "answered", `${item.id} waits for data, not for words`);
  }
}

const wrong = (message: string): never => {
  throw new TuttiError("invalid_input", message);
};

/** An answer in words: its own, or those of the option it names. */
function wordsOf(item: InboxItem, answer: PersonAnswer): string {
  if ("text" in answer && answer.text !== undefined && !("approve" in answer)) return answer.text;
  if ("option" in answer) return optionOf(item, answer.option);
  return wrong(`${item.id} is answered with text${item.options ? " or the number of an option" : ""}`);
}

/** A refusal in words is passed on to the agent as it is. */
function permissionOf(item: InboxItem, answer: PersonAnswer): string {
  if (!("approve" in answer)) return wordsOf(item, answer);
  return answer.approve ? yesAmong(item.options) : (answer.text ?? noAmong(item.options));
}

function answerLimit(run: Run, item: InboxItem, answer: PersonAnswer, by: "person" | "clock"): RunEvent[] {
  const goOn =
    "approve" in answer
      ? answer.approve
      : "option" in answer
        ? optionOf(item, answer.option) === LIMIT_OPTIONS[0]
        : wrong(`${item.id} is answered with an option or with approval`);
  if (!goOn) return cancel(run);
  const rest = stillAsks(run, new Set([item.id])) ? [] : resumed(run, by === "clock");
  return [answered(run, item, LIMIT_OPTIONS[0]!), ...rest];
}

function optionOf(item: InboxItem, option: number): string {
  const found = item.options?.[option];
  if (found !== undefined) return found;
  return wrong(`${item.id} has ${item.options ? `the options 0 to ${item.options.length - 1}` : "no options"}`);
}

/** Yes, no, or no with what should be different. */
function answerPlan(run: Run, answer: PersonAnswer): RunEvent[] {
  if (!("approve" in answer)) return wrong("a plan is approved or not, not answered with text");
  if (answer.approve) return confirm(run, {}, answer.hash);
  return answer.text === undefined ? cancel(run) : requestChanges(run, answer.text);
}

function answerBudget(run: Run, item: InboxItem, answer: PersonAnswer, at: number): RunEvent[] {
  const { kind } = item.evidence as { kind: BudgetKind };
  if ("data" in answer) {
    const parsed = Budget.safeParse(answer.data);
    if (!parsed.success) return wrong("a budget is given as numbers: usd, tokens, minutes, turns, descendants");
    return [
      answered(run, item, JSON.stringify(parsed.data)),
      ...withBudget(run, item, { ...run.budget, ...parsed.data }),
    ];
  }
  const yes =
    "approve" in answer
      ? answer.approve
      : "option" in answer
        ? optionOf(item, answer.option) === item.options![0]
        : null;
  if (yes === null) return wrong(`${item.id} is answered with an option, with approval, or with a budget as data`);
  if (!yes) return cancel(run);
  return [answered(run, item, item.options![0]!), ...withBudget(run, item, extended(run, kind, at))];
}

/** One answer about money settles all that were asked. */
function withBudget(run: Run, item: InboxItem, budget: Budget): RunEvent[] {
  const others = Object.values(run.inbox).filter(({ kind, id }) => kind === "budget" && id !== item.id);
  const settled = new Set([item, ...others].map(({ id }) => id));
  return [
    ...withdraw(run, ({ id }) => settled.has(id) && id !== item.id),
    { type: "orchestrator:budgetChanged", data: { id: run.id, budget } },
    ...(stillAsks(run, settled) ? [] : resumed(run)),
  ];
}

export const FAILURE_OPTIONS = ["try it again", "leave it"];

function answerFailure(run: Run, item: InboxItem, answer: PersonAnswer): RunEvent[] {
  const again =
    "approve" in answer
      ? answer.approve
      : "option" in answer
        ? optionOf(item, answer.option) === FAILURE_OPTIONS[0]
        : wrong(`${item.id} is answered with an option or with approval`);
  // A retry takes back the question itself.
  return again ? retry(run, item.taskId!) : [answered(run, item, FAILURE_OPTIONS[1]!)];
}

/** When the last decision is there, the main session merges again with all of them before it. */
function decideAll(run: Run, given: readonly { item: InboxItem; answer: string }[]): RunEvent[] {
  const events: RunEvent[] = given.map(({ item, answer }) => answered(run, item, answer));
  const decisions: Decision[] = given.map(({ item, answer }) => ({
    index: item.index!,
    question: item.question,
    answer,
  }));
  const done = new Set(given.map(({ item }) => item.id));
  events.push({ type: "orchestrator:decided", data: { id: run.id, decisions } });
  return stillAsks(run, done) ? events : [...events, ...resumed(run)];
}

/** Several decisions at once, by their place among those that were asked for. */
export function decideByIndex(
  run: Run,
  decisions: readonly { index: number; option?: number | undefined; text?: string | undefined }[],
): RunEvent[] {
  const items = Object.values(run.inbox).filter(({ kind }) => kind === "decision");
  if (items.length === 0) throw refused(run, "decided", "it does not wait for decisions");
  if (decisions.length === 0) return wrong("no decision was given");
  const given = decisions.map(({ index, option, text }) => {
    const item = items.find((each) => each.index === index);
    if (!item)
      return wrong(`there is no decision ${index} to be taken; open are ${items.map((each) => each.index).join(", ")}`);
    if (option !== undefined) return { item, answer: optionOf(item, option) };
    return { item, answer: text ?? wrong(`decision ${index} needs an option or a text`) };
  });
  if (new Set(given.map(({ item }) => item.id)).size < given.length) return wrong("a decision was given twice");
  return decideAll(run, given);
}
