import { translate } from "../text/language.ts";
import type { IconName } from "../parts/icon-shapes.ts";
import type { WaitingItem } from "../../../tutti/src/client/run-summary.ts";
import type { InboxItem } from "../../../tutti/src/schema/inbox.ts";

/** Over HTTP the times are strings, in the fold they are numbers; `timeOf` accepts both. */
export type AnyItem = Omit<InboxItem, "createdAt" | "expiresAt"> & {
  createdAt: number | string;
  expiresAt?: number | string | undefined;
};

export const timeOf = (at: number | string): number => (typeof at === "number" ? at : Date.parse(at));

interface KindLook {
  label: string;
  icon: IconName;
  /** How much the wait costs: 3 stops the run, 2 stops a task, 1 stops nothing. */
  cost: 1 | 2 | 3;
}

const KINDS: Record<InboxItem["kind"], KindLook> = {
  plan: { label: translate("Plan"), icon: "list", cost: 3 },
  question: { label: translate("Question"), icon: "question", cost: 2 },
  permission: { label: translate("Permission"), icon: "lock", cost: 2 },
  data: { label: translate("Missing data"), icon: "file", cost: 3 },
  decision: { label: translate("Decision"), icon: "branch", cost: 3 },
  budget: { label: translate("Budget"), icon: "coins", cost: 3 },
  limit: { label: translate("Usage limit"), icon: "clock", cost: 3 },
  failure: { label: translate("Failed task"), icon: "warning", cost: 1 },
  blocker: { label: translate("Blocker"), icon: "question", cost: 2 },
  gate: { label: translate("Gate"), icon: "lock", cost: 2 },
  validation: { label: translate("Verdict"), icon: "question", cost: 2 },
  host: { label: translate("Missing host"), icon: "clock", cost: 2 },
};
/** For a kind of a newer server. */
const OTHER: KindLook = { label: translate("Question"), icon: "question", cost: 2 };

export const lookOf = ({ kind }: Pick<AnyItem, "kind">): KindLook => (Object.hasOwn(KINDS, kind) ? KINDS[kind] : OTHER);

export const costOf = (item: Pick<AnyItem, "kind" | "taskId">): number =>
  item.kind === "question" && item.taskId === null ? 3 : lookOf(item).cost;

export function titleOf({ kind, taskId }: AnyItem): string {
  switch (kind) {
    case "plan":
      return translate("A plan waits for you");
    case "budget":
      return translate("The budget is used up");
    case "limit":
      return translate("A usage limit is reached");
    case "data":
      return translate("Data is missing");
    case "failure":
      return translate("{who} did not complete", { who: taskId ?? translate("The main session") });
    case "permission":
      return translate("{who} asks for permission", { who: taskId ?? translate("The main session") });
    case "gate":
      return translate("A deployment was refused");
    case "validation":
      return translate("{who} waits for your verdict", { who: taskId ?? translate("A task") });
    case "host":
      return translate("{who} waits for a host", { who: taskId ?? translate("A task") });
    case "blocker":
      return translate("{who} cannot go on", { who: taskId ?? translate("A role") });
    case "decision":
      return taskId === null ? translate("Merging needs a decision") : translate("{who} asks", { who: taskId });
    default:
      return translate("{who} asks", { who: taskId ?? translate("The main session") });
  }
}

/** A plan with errors cannot be confirmed. */
export function planErrorsOf({ kind, evidence }: AnyItem): string[] {
  const errors = (evidence as { errors?: unknown } | null | undefined)?.errors;
  return kind === "plan" && Array.isArray(errors) ? errors.filter((error) => typeof error === "string") : [];
}

/** The most costly wait comes first (`costOf`), then the nearest deadline, then the oldest item. */
export function byCost(items: readonly WaitingItem[]): WaitingItem[] {
  const deadline = ({ expiresAt }: WaitingItem) =>
    expiresAt === undefined ? Number.POSITIVE_INFINITY : timeOf(expiresAt);
  return items.toSorted((a, b) => {
    const [sooner, later] = [deadline(a), deadline(b)];
    return (
      costOf(b) - costOf(a) || (sooner === later ? 0 : sooner - later) || timeOf(a.createdAt) - timeOf(b.createdAt)
    );
  });
}
