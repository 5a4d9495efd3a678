import { costOf } from "../inbox/item-look.ts";
import type { InboxItem } from "../../../tutti/src/schema/inbox.ts";

/** True if the run, or one of its sessions, is stopped until the user answers. `PlanCard` handles plans. */
export const holdsUp = (item: Pick<InboxItem, "kind" | "taskId">): boolean =>
  item.kind !== "plan" && item.kind !== "data" && costOf(item) > 1;
