// Questions of a session that nobody needs to answer any more.
import type { RunEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";

export function withdrawQuestions(run: Run, sessionId: string): RunEvent[] {
  return Object.values(run.inbox)
    .filter((item) => item.sessionId === sessionId)
    .map((item) => ({ type: "inbox:answered", data: { id: run.id, itemId: item.id, text: "", withdrawn: true } }));
}
