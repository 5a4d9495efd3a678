import { answerItem } from "./answer-item.ts";
import { openWork } from "../fold/open-work.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";

/** Answers the first item past its `expiresAt` with its default. */
export function answerByDefault(run: Run, at: number): RunEvent[] {
  const overdue = openWork(run).questions.find(({ expiresAt }) => expiresAt !== undefined && expiresAt <= at);
  if (!overdue) return [];
  const option = overdue.options?.indexOf(overdue.default ?? "") ?? -1;
  const answer = option === -1 ? { text: overdue.default ?? "" } : { option };
  return answerItem(run, overdue.id, answer, at, "clock");
}
