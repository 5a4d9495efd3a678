import { describeProblems } from "../describe-problems.ts";
import type { TurnOver } from "../command.ts";
import { MAX_TRIES } from "../rules/losses.ts";
import type { EventOf } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import type { SessionState } from "../../schema/worker.ts";
import { sentence } from "../../sentence.ts";

interface EndedTurn {
  /** Null for the main session. */
  taskId: string | null;
  over: TurnOver;
  /** Why its answer cannot be used. The words of the agent are kept only with problems. */
  problems: string[];
  again?: boolean;
  waits?: boolean;
}

/** The end of the open turn of `session`. */
export function turnEnded(
  run: Run,
  { sessionId, turn }: SessionState,
  { taskId, over, problems, ...more }: EndedTurn,
): EventOf<"turn:ended"> {
  const { ending, cutOff, toolStats, usage, context } = over;
  return {
    type: "turn:ended",
    data: {
      id: run.id,
      sessionId,
      taskId,
      turn: turn!.number,
      ending,
      problems,
      ...more,
      ...(cutOff ? { cutOff } : {}),
      said: problems.length > 0 ? over.said : null,
      guess: problems.length > 0 ? over.guess : null,
      toolStats,
      usage,
      ...(context ? { context } : {}),
    },
  };
}

/** After the last of `MAX_TRIES` turns. */
export const noUsableAnswer = (run: Run, problems: readonly string[]): string =>
  sentence("no usable answer after {count} tries: {problems}", {
    count: MAX_TRIES,
    problems: describeProblems(problems, run, "; "),
  });
