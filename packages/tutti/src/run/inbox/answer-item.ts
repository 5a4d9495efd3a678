// `answerItem` accepts the user's answer to an inbox item, once. The item's `kind` determines the accepted form.
import { extended } from "../rules/budget.ts";
import { confirm, refused, requestChanges } from "../plan/confirm.ts";
import { HOST_OPTIONS } from "./ask-for-host.ts";
import { answerForeignChange, isForeignChangeItem } from "../plan/interfaces.ts";
import { answered, withdraw } from "./inbox.ts";
import { cancel, cancelWorker, resumed, stillAsks } from "../lifecycle.ts";
import { noSuchItem } from "../lookup.ts";
import { noAmong, yesAmong } from "../rules/permission.ts";
import { LIMIT_OPTIONS } from "../provider/provider.ts";
import { retryMain } from "../rules/resume.ts";
import { FAILURE_OPTIONS, retry } from "../rules/retry.ts";
import { resolveBlocker } from "../team/blocker.ts";
import { answerOverdue, isOverdueItem } from "../team/deadline.ts";
import { giveVerdict, VERDICT_OPTIONS } from "../team/lead-duty.ts";
import { Budget, type BudgetKind } from "../../schema/budget.ts";
import { TuttiError } from "../../schema/error.ts";
import type { Decision, RunEvent } from "../../schema/event.ts";
import type { InboxItem, PersonAnswer } from "../../schema/inbox.ts";
import type { Run } from "../../schema/run.ts";

export function answerItem(
  run: Run,
  itemId: string,
  given: PersonAnswer,
  at: number,
  by: "person" | "clock" = "person",
): RunEvent[] {
  const item = Object.hasOwn(run.inbox, itemId) ? run.inbox[itemId]! : null;
  if (!item) throw noSuchItem(itemId);
  const answer = asOption(item, given);
  if (answer.hash !== undefined && answer.hash !== item.hash) {
    throw refused(run, "answered", `item "${itemId}" has changed since you saw it`, "Read it again, then answer.");
  }
  switch (item.kind) {
    case "question":
      return [answered(run, item, wordsOf(item, answer))];
    case "blocker":
      return answerBlocker(run, item, wordsOf(item, answer), at);
    case "validation":
      return answerValidation(run, item, answer, at);
    case "gate":
      return answerGate(run, item, answer, at);
    case "host":
      return isApproved(item, answer, HOST_OPTIONS[0]!)
        ? [answered(run, item, HOST_OPTIONS[0]!)]
        : cancelWorker(run, item.sessionId!);
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
      return answerFailure(run, item, answer, at);
    case "data":
      return answerData(run, item, answer, at);
  }
}

function answerBlocker(run: Run, item: InboxItem, decision: string, at: number): RunEvent[] {
  if (isOverdueItem(run, item)) return answerOverdue(run, item, decision);
  return isForeignChangeItem(run, item)
    ? answerForeignChange(run, item, decision)
    : resolveBlocker(run, item, decision, at);
}

/** The text of an option chooses it, whatever its case (`toLowerCase`). */
function asOption(item: InboxItem, answer: PersonAnswer): PersonAnswer {
  if (!("text" in answer) || answer.text === undefined || "approve" in answer) return answer;
  const words = answer.text.trim().toLowerCase();
  const option = item.options?.findIndex((each) => each.trim().toLowerCase() === words) ?? -1;
  return option === -1 ? answer : { option, ...(answer.hash !== undefined && { hash: answer.hash }) };
}

const wrong = (message: string): never => {
  throw new TuttiError("invalid_input", message);
};

function wordsOf(item: InboxItem, answer: PersonAnswer): string {
  if ("text" in answer && answer.text !== undefined && !("approve" in answer)) return answer.text;
  if ("option" in answer) return optionOf(item, answer.option);
  return wrong(
    `Item "${item.id}" needs another answer. Give a text${item.options ? " or the number of an option" : ""}.`,
  );
}

/** The agent receives the text of a refusal unchanged, else one of `item.options`. */
function permissionOf(item: InboxItem, answer: PersonAnswer): string {
  if (!("approve" in answer)) return wordsOf(item, answer);
  return answer.approve ? yesAmong(item.options) : (answer.text ?? noAmong(item.options));
}

function answerLimit(run: Run, item: InboxItem, answer: PersonAnswer, by: "person" | "clock"): RunEvent[] {
  if (!isApproved(item, answer, LIMIT_OPTIONS[0]!)) return cancel(run);
  const rest = stillAsks(run, new Set([item.id])) ? [] : resumed(run, by === "clock");
  return [answered(run, item, LIMIT_OPTIONS[0]!), ...rest];
}

/** `yes` is the option that approves the item. */
function isApproved(item: InboxItem, answer: PersonAnswer, yes: string): boolean {
  if ("approve" in answer) return answer.approve;
  return "option" in answer ? optionOf(item, answer.option) === yes : wrong(needsChoice(item));
}

const needsChoice = ({ id }: InboxItem): string =>
  `Item "${id}" cannot be answered with text. Give the number of an option, or approve or reject it.`;

function optionOf(item: InboxItem, option: number): string {
  const found = item.options?.[option];
  if (found !== undefined) return found;
  return wrong(
    item.options
      ? `Item "${item.id}" has no option ${option}. Choose one from 0 to ${item.options.length - 1}.`
      : `Item "${item.id}" has no options. Answer it with text.`,
  );
}

/** A rejection with a text calls `requestChanges`; one without a text cancels the run. */
function answerPlan(run: Run, answer: PersonAnswer): RunEvent[] {
  if (!("approve" in answer)) return wrong("A plan cannot be answered with text or an option. Approve or reject it.");
  if (answer.approve) return confirm(run, {}, answer.hash);
  return answer.text === undefined ? cancel(run) : requestChanges(run, answer.text);
}

function answerBudget(run: Run, item: InboxItem, answer: PersonAnswer, at: number): RunEvent[] {
  const { kind, used } = item.evidence as { kind: BudgetKind; used: number };
  if ("data" in answer) {
    const parsed = Budget.safeParse(answer.data);
    if (!parsed.success) {
      return wrong("The budget is invalid. Give positive numbers for usd, tokens, minutes, turns or descendants.");
    }
    return [
      answered(run, item, JSON.stringify(parsed.data)),
      ...withBudget(run, item, { ...run.budget, ...parsed.data }),
    ];
  }
  const approved =
    "approve" in answer
      ? answer.approve
      : "option" in answer
        ? optionOf(item, answer.option) === item.options![0]
        : null;
  if (approved === null) {
    return wrong(
      `Item "${item.id}" cannot be answered with text. Choose an option, approve or reject it, or give a budget as data.`,
    );
  }
  if (!approved) return cancel(run);
  return [answered(run, item, item.options![0]!), ...withBudget(run, item, extended(run, kind, at, used))];
}

/** One answer settles all open items of kind `budget`. */
function withBudget(run: Run, item: InboxItem, budget: Budget): RunEvent[] {
  const others = Object.values(run.inbox).filter(({ kind, id }) => kind === "budget" && id !== item.id);
  const settled = new Set([item, ...others].map(({ id }) => id));
  return [
    ...withdraw(run, ({ id }) => settled.has(id) && id !== item.id),
    { type: "orchestrator:budgetChanged", data: { id: run.id, budget } },
    ...(stillAsks(run, settled) ? [] : resumed(run)),
  ];
}

/** A text without `approve` is the reason of a rejection. */
function answerValidation(run: Run, item: InboxItem, answer: PersonAnswer, at: number): RunEvent[] {
  const words = "text" in answer ? answer.text : undefined;
  const isReason = words !== undefined && !("approve" in answer);
  const approved = !isReason && isApproved(item, answer, VERDICT_OPTIONS[0]!);
  return giveVerdict(run, item, approved, words ?? "The user rejected the work.", at);
}

function answerGate(run: Run, item: InboxItem, answer: PersonAnswer, at: number): RunEvent[] {
  if (isApproved(item, answer, FAILURE_OPTIONS[0]!)) return retry(run, item.taskId!, at);
  return [answered(run, item, FAILURE_OPTIONS[1]!)];
}

function answerFailure(run: Run, item: InboxItem, answer: PersonAnswer, at: number): RunEvent[] {
  // `retry` and `retryMain` withdraw the item themselves.
  if (isApproved(item, answer, FAILURE_OPTIONS[0]!))
    return item.taskId === null ? retryMain(run, at) : retry(run, item.taskId, at);
  // A run that is paused for a phase of its main session (`taskId` null) has nothing else to do.
  return item.taskId === null && run.status === "paused" ? cancel(run) : [answered(run, item, FAILURE_OPTIONS[1]!)];
}

/** `supply` accepts the data; the options of the item only retry the phase or leave it. */
function answerData(run: Run, item: InboxItem, answer: PersonAnswer, at: number): RunEvent[] {
  if ("option" in answer || "approve" in answer) return answerFailure(run, item, answer, at);
  throw refused(run, "answered", `item "${item.id}" needs data`, "Supply the data of the phase as JSON.");
}

/** The main session merges again with all `decisions` once the run no longer `stillAsks`. */
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

/** `index` is that of the inbox item. */
export function decideByIndex(
  run: Run,
  decisions: readonly { index: number; option?: number | undefined; text?: string | undefined }[],
): RunEvent[] {
  const items = Object.values(run.inbox).filter(({ kind }) => kind === "decision");
  if (items.length === 0) throw refused(run, "given decisions", "it waits for none");
  if (decisions.length === 0) return wrong("The list of decisions is empty. Give at least one decision.");
  const given = decisions.map(({ index, option, text }) => {
    const item = items.find((each) => each.index === index);
    if (!item)
      return wrong(`Decision ${index} is not open. Choose from ${items.map((each) => each.index).join(", ")}.`);
    if (option !== undefined) return { item, answer: optionOf(item, option) };
    return { item, answer: text ?? wrong(`Decision ${index} has no answer. Give an option or a text.`) };
  });
  if (new Set(given.map(({ item }) => item.id)).size < given.length) {
    return wrong("A decision is given twice. Give each decision once.");
  }
  return decideAll(run, given);
}
