// What of a run waits for the person who looks.
import type { InboxItem } from "../../../tutti/src/schema/inbox.ts";

const HOLDING: ReadonlySet<InboxItem["kind"]> = new Set(["question", "permission", "decision", "budget", "limit"]);

/** Whether the run, or a part of it, stands still until it is answered. A plan has its own place on the page. */
export const holdsUp = ({ kind }: Pick<InboxItem, "kind">): boolean => HOLDING.has(kind);
