import type { InboxItem } from "../../../../tutti/src/schema/inbox.ts";

const BLOCKING_KINDS: ReadonlySet<InboxItem["kind"]> = new Set([
  "question",
  "permission",
  "decision",
  "budget",
  "limit",
]);

/** Whether the run, or one of its sessions, is blocked until the user answers. `PlanCard` handles plans. */
export const holdsUp = ({ kind }: Pick<InboxItem, "kind">): boolean => BLOCKING_KINDS.has(kind);
