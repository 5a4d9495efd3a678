// The end of a turn, judged as far as facts go: which block counts, and what the workspace really holds. What follows
// from it is for the rules to say.
import { PROMPT_OF, renderPrompt } from "./prompt.ts";
import type { TurnRecord } from "./turn-record.ts";
import { detectFallback } from "../protocol/fallback.ts";
import { judgeAnswer } from "../protocol/judge-answer.ts";
import type { History, TurnOver } from "../run/command.ts";
import type { Answer } from "../schema/answer.ts";
import { TuttiError } from "../schema/error.ts";
import type { Ending } from "../schema/ending.ts";
import type { Run } from "../schema/run.ts";
import { ANSWER_PHASE, type Phase } from "../schema/status.ts";
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
  /** What the session was told, if this engine told it; it is rendered again otherwise. */
  prompt: string | null;
  /** A fresh name for an inbox item. */
  itemId: string;
  /** For a plan: what such tasks took before. */
  history: History | null;
}

interface Judged {
  answer: Answer | null;
  problems: string[];
}

/** Where the template agrees on a last line that stands for a completion block, that line is as good as the block. */
function byMarker({ run, worker, record, ending }: TurnToJudge, judged: Judged): Judged {
  if (judged.answer !== null || !worker || ending.kind !== "ended") return judged;
  const lines = record.said.trimEnd().split("\n");
  const last = lines.pop()!.trim();
  const at = run.template.phases.workerExecution.completionMarkers.indexOf(last);
  if (at === -1) return judged;
  const words = lines.join("\n").trim().slice(-SUMMARY);
  const status = at === 0 ? ("success" as const) : ("failed" as const);
  const data = { task_id: worker.taskId, status, ...(status === "failed" ? { error: words } : { summary: words }) };
  return { answer: { phase: "completion", data }, problems: [] };
}

/** A main session that gives the work to agents of its own instead of answering goes past everybody who watches. */
function bypass({ worker, record }: TurnToJudge, judged: Judged): Judged {
  if (worker !== null || judged.answer !== null || record.subagents === 0) return judged;
  const problem = `You started ${record.subagents} of your own agents instead of answering: plan the work as tasks, which are given to workers.`;
  return { answer: null, problems: [problem, ...judged.problems] };
}

const SUMMARY = 400;

/** The question that a text ends with, with what stands before it in the same paragraph. */
function questionIn(said: string): string | null {
  const text = said.trimEnd();
  if (!text.endsWith("?")) return null;
  return text.slice(text.lastIndexOf("\n\n") + 1).trim();
}

/** What the template demands of an answer beyond its phase's own schema. */
function demand(run: Run, phase: Phase, judged: Judged): Judged {
  const { answer } = judged;
  const format = run.template.prompts[PROMPT_OF[phase]]?.format;
  if (answer === null || !format) return judged;
  const problems = format.requiredFields
    .filter((field) => (answer.data as Record<string, unknown>)[field] === undefined)
    .map((field) => `data.${field} is missing.`);
  if (answer.phase === "task_list") {
    for (const [i, task] of answer.data.tasks.entries()) {
      const missing = format.taskSchema.required.filter((field) => task[field] === undefined);
      problems.push(...missing.map((field) => `data.tasks[${i}].${field} is missing.`));
    }
  }
  return problems.length === 0 ? judged : { answer: null, problems };
}

export async function judgeTurn(
  turn: TurnToJudge,
): Promise<{ over: TurnOver; ignored: { phase: string; reason: string }[] }> {
  const { run, worker, state, record, ending } = turn;
  const { phase } = state.turn!;
  const owed = worker ? worker.owed : run.owed;
  const prompt = turn.prompt ?? renderPrompt(run, phase, worker, owed, turn.cwd).text;
  const judged = judgeAnswer({
    blocks: record.blocks,
    prompt,
    delimiters: run.template.prompts.responseFormat,
    phase: ANSWER_PHASE[phase],
    ...(worker ? { taskId: worker.taskId } : {}),
  });
  const { ignored } = judged;
  const { answer, problems } = bypass(turn, demand(run, phase, byMarker(turn, judged)));
  // A turn that broke off counts only if its very last word was a worker's completion.
  const lastWord = record.lastBlock?.ok === true && record.lastBlock.phase === "completion";
  const counts =
    ending.kind === "ended" ||
    // What was complete when the pause came is not thrown away.
    ending.kind === "interrupted" ||
    (ending.kind === "exited" && answer?.phase === "completion" && lastWord);
  const counted = counts ? answer : null;
  const work = counted && (await takeWork(turn, counted));
  const { toolStats, usage, said } = record;
  const { detected, probablePhase, confidence } = detectFallback(said);
  const guess = detected && probablePhase !== null ? { phase: probablePhase, confidence } : null;
  return {
    over: {
      ending,
      answer: counted,
      problems,
      said,
      question: counted === null && ending.kind === "ended" ? questionIn(said) : null,
      guess,
      itemId: turn.itemId,
      toolStats,
      usage,
      work,
      ...(turn.history ? { history: turn.history } : {}),
    },
    ignored,
  };
}

const VERBS: Partial<Record<Answer["phase"], string>> = {
  aggregation: "Merged result",
  verification: "Verified result",
};

const isOnlyPhase = ({ template: { phases } }: Run): boolean =>
  !phases.taskPlanning.enabled && !phases.workerExecution.enabled;

/**
 * Commits what the workspace holds. The main session's changes count in aggregation and verification, if it succeeded,
 * and in an analysis that nothing follows: there the main session does all the work.
 */
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
      : answer.phase === "verification"
        ? answer.data.status !== "failed"
        : answer.phase === "analysis" && isOnlyPhase(run);
  if (!succeeded) return null;
  const { commit, files } = await workspaces.snapshot(
    run.cwd,
    key,
    run.head!,
    `${VERBS[answer.phase] ?? "Result"} of ${run.id}`,
  );
  const merge = await workspaces.integrate(run.cwd, run.id, commit, `Result of ${run.id}`);
  if (!merge.ok)
    throw new TuttiError(
      "workspace_failed",
      `the main session's changes collide with the run's branch in ${merge.files.join(", ")}`,
    );
  return { commit, files, head: merge.commit };
}
