import { openWork } from "../fold/open-work.ts";
import { sha256 } from "../fold/sha256.ts";
import { valuesOf } from "../fold/shared-record.ts";
import type { EventOf, RunEvent } from "../../schema/event.ts";
import type { InboxItem } from "../../schema/inbox.ts";
import type { Run } from "../../schema/run.ts";

type Content = Pick<InboxItem, "kind" | "question"> &
  Partial<Omit<InboxItem, "kind" | "question" | "run" | "hash" | "createdAt">>;

/** Without `content.id` the id is derived from `runSeq`, because the rules must be pure. */
export function addItem(run: Run, content: Content, at: number): EventOf<"inbox:added"> {
  const { kind, question, taskId = null, sessionId = null, askId = null, risk = "low", ...rest } = content;
  const id = content.id ?? `item_${sha256([run.id, run.runSeq, kind, taskId, rest.index].join(" ")).slice(0, 10)}`;
  const hash = hashOfItem({ kind, run: run.id, taskId, question, options: rest.options, evidence: rest.evidence });
  const item = { ...rest, id, kind, run: run.id, taskId, sessionId, askId, question, risk, hash, createdAt: at };
  return { type: "inbox:added", data: { id: run.id, item } };
}

type Shown = Pick<InboxItem, "kind" | "run" | "taskId" | "question"> & {
  options?: InboxItem["options"] | undefined;
  evidence?: unknown;
};

/** Covers exactly the members in `Shown`, which the user sees. */
export const hashOfItem = ({ kind, run, taskId, question, options, evidence }: Shown): string =>
  sha256(JSON.stringify({ kind, run, taskId, question, options, evidence }));

/** Whether the item is about a phase that the main session did not complete (`taskId` null). */
export const isOfMain = ({ kind, taskId }: InboxItem): boolean =>
  kind === "data" || (kind === "failure" && taskId === null);

export function withdraw(run: Run, which: (item: InboxItem) => boolean): RunEvent[] {
  return valuesOf(run.inbox)
    .filter(which)
    .map((item) => withdrawn(run, item));
}

const withdrawn = (run: Run, { id }: InboxItem): RunEvent => ({
  type: "inbox:answered",
  data: { id: run.id, itemId: id, text: "", withdrawn: true },
});

export const withdrawQuestions = (run: Run, sessionId: string): RunEvent[] =>
  openWork(run)
    .questions.filter((item) => item.sessionId === sessionId)
    .map((item) => withdrawn(run, item));

export const answered = (run: Run, item: InboxItem, text: string): RunEvent => ({
  type: "inbox:answered",
  data: { id: run.id, itemId: item.id, text, withdrawn: false },
});
