// Words and order of inbox items.
import type { IconName } from "../parts/icon-shapes.ts";
import type { WaitingItem } from "../../../tutti/src/client/run-summary.ts";
import type { InboxItem } from "../../../tutti/src/schema/inbox.ts";

/** The members of an item that are the same in the fold and over HTTP. */
export type AnyItem = Omit<InboxItem, "createdAt" | "expiresAt"> & {
  createdAt: number | string;
  expiresAt?: number | string | undefined;
};

export const timeOf = (at: number | string): number => (typeof at === "number" ? at : Date.parse(at));

interface KindLook {
  /** Names the kind in a landmark. */
  label: string;
  icon: IconName;
  /** How much the wait costs: 3 stops the run, 2 stops a task, 1 stops nothing. */
  cost: 1 | 2 | 3;
}

const KINDS: Record<InboxItem["kind"], KindLook> = {
  plan: { label: "Plan", icon: "list", cost: 3 },
  question: { label: "Question", icon: "question", cost: 2 },
  permission: { label: "Permission", icon: "lock", cost: 2 },
  data: { label: "Missing data", icon: "file", cost: 3 },
  decision: { label: "Decision", icon: "branch", cost: 3 },
  budget: { label: "Budget", icon: "coins", cost: 3 },
  limit: { label: "Usage limit", icon: "clock", cost: 3 },
  failure: { label: "Failed task", icon: "warning", cost: 1 },
  blocker: { label: "Blocker", icon: "question", cost: 2 },
  gate: { label: "Gate", icon: "lock", cost: 2 },
  validation: { label: "Verdict", icon: "question", cost: 2 },
  host: { label: "Missing host", icon: "clock", cost: 2 },
};
/** An item of a newer server. */
const OTHER: KindLook = { label: "Question", icon: "question", cost: 2 };

export const lookOf = ({ kind }: Pick<AnyItem, "kind">): KindLook => (Object.hasOwn(KINDS, kind) ? KINDS[kind] : OTHER);

export const costOf = (item: Pick<AnyItem, "kind" | "taskId">): number =>
  item.kind === "question" && item.taskId === null ? 3 : lookOf(item).cost;

export function titleOf({ kind, taskId }: AnyItem): string {
  switch (kind) {
    case "plan":
      return "A plan waits for you";
    case "budget":
      return "The budget is used up";
    case "limit":
      return "A usage limit is reached";
    case "data":
      return "Data is missing";
    case "failure":
      return `${taskId ?? "The main session"} did not complete`;
    case "permission":
      return `${taskId ?? "The main session"} asks for permission`;
    case "gate":
      return "A deployment was refused";
    case "validation":
      return `${taskId ?? "A task"} waits for your verdict`;
    case "host":
      return `${taskId ?? "A task"} waits for a host`;
    case "blocker":
      return `${taskId ?? "A role"} cannot go on`;
    case "decision":
      return taskId === null ? "Merging needs a decision" : `${taskId} asks`;
    default:
      return `${taskId ?? "The main session"} asks`;
  }
}

/** The most costly wait first, then the nearest deadline, then the oldest. */
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
