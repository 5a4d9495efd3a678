// The end of a turn, judged as far as facts go: which block counts, and what the workspace really holds. What follows
// from it is for the rules to say.
import { renderPrompt } from "./prompt.ts";
import type { TurnRecord } from "./turn-record.ts";
import { detectFallback } from "../protocol/fallback.ts";
import { judgeAnswer } from "../protocol/judge-answer.ts";
import type { TurnOver } from "../run/command.ts";
import type { Answer } from "../schema/answer.ts";
import { TuttiError } from "../schema/error.ts";
import type { Ending } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import { ANSWER_PHASE } from "../schema/status.ts";
import type { SessionState, Worker } from "../schema/worker.ts";
import type { WorkspaceKey, Workspaces } from "../workspace/workspace.ts";

export interface TurnToJudge {
  run: Run;
  worker: Worker | null;
  state: SessionState;
  key: WorkspaceKey;
  record: TurnRecord;
  ending: Ending;
  workspaces: Workspaces;
  cwd: string;
  /** A fresh name for an inbox item. */
  itemId: string;
}

export async function judgeTurn(
  turn: TurnToJudge,
): Promise<{ over: TurnOver; ignored: { phase: string; reason: string }[] }> {
  const { run, worker, state, record, ending } = turn;
  const { phase } = state.turn!;
  const owed = worker?.owed ?? run.owed;
  const prompt = renderPrompt(run, phase, worker, owed?.problems ?? [], turn.cwd).text;
  const { answer, problems, ignored } = judgeAnswer({
    blocks: record.blocks,
    prompt,
    delimiters: run.template.prompts.responseFormat,
    phase: ANSWER_PHASE[phase],
    ...(worker ? { taskId: worker.taskId } : {}),
  });
  // A turn that broke off counts only if its very last word was a worker's completion.
  const lastWord = record.lastBlock?.ok === true && record.lastBlock.phase === "completion";
  const counts = ending.kind === "ended" || (ending.kind === "exited" && answer?.phase === "completion" && lastWord);
  const counted = counts ? answer : null;
  const work = counted && (await takeWork(turn, counted));
  const { toolStats, usage, said } = record;
  const { detected, probablePhase, confidence } = detectFallback(said);
  const guess = detected && probablePhase !== null ? { phase: probablePhase, confidence } : null;
  return {
    over: { ending, answer: counted, problems, said, guess, itemId: turn.itemId, toolStats, usage, work },
    ignored,
  };
}

/** Commits what the workspace holds. The main session's changes count in aggregation and verification, if it succeeded. */
async function takeWork(
  { run, worker, state, key, workspaces }: TurnToJudge,
  answer: Answer,
): Promise<TurnOver["work"]> {
  if (worker) {
    const message = `${worker.task.title}\n\nTask ${worker.taskId} of ${run.id}, attempt ${worker.attempt}.`;
    const { commit, files } = await workspaces.snapshot(run.cwd, key, state.start!, message);
    return { commit, files, head: null };
  }
  const succeeded =
    answer.phase === "aggregation"
      ? answer.data.status === "success"
      : answer.phase === "verification" && answer.data.status !== "failed";
  if (!succeeded) return null;
  const { commit, files } = await workspaces.snapshot(
    run.cwd,
    key,
    run.head!,
    `${answer.phase === "aggregation" ? "Merged" : "Verified"} result of ${run.id}`,
  );
  const merge = await workspaces.integrate(run.cwd, run.id, commit, `Result of ${run.id}`);
  if (!merge.ok)
    throw new TuttiError(
      "workspace_failed",
      `the main session's changes collide with the run's branch in ${merge.files.join(", ")}`,
    );
  return { commit, files, head: merge.commit };
}
