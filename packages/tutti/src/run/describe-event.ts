// `describeEvent` turns events into sentences for users. The command line, the dashboard and notifications take all
// their sentences from here; each decides only which events it shows and how it formats, masks and truncates the text.
import { describeFailed } from "./rules/checks.ts";
import { census } from "./census.ts";
import { describeUse } from "./used-names.ts";
import { describeProblems } from "./describe-problems.ts";
import { describeChange, describeMovedRef } from "./repository-warnings.ts";
import type { PauseReason, RunEvent } from "../schema/event.ts";
import type { InboxItem } from "../schema/inbox.ts";
import type { Census, Usage, Verdict } from "../schema/outcome.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver, isWorkerOver, type Phase } from "../schema/status.ts";

/** `you`: the user has to act. */
export type Severity = "neutral" | "running" | "good" | "warning" | "bad" | "you";

export interface EventDescription {
  severity: Severity;
  /** The first word of the sentence, or null if the sentence is about the run or its main session. */
  taskId: string | null;
  /** The sentence after `taskId`, in lower case and without a period. */
  headline: string;
  /** Follows the headline after a colon. May be empty, and may contain text of an agent. */
  detail: string;
}

/** `headline` begins with a capital in a title. A task id keeps its case. */
export const titleOf = ({ taskId, headline }: EventDescription): string =>
  taskId === null ? capitalize(headline) : `${taskId} ${headline}`;

export const withDetail = (title: string, detail: string): string => (detail === "" ? title : `${title}: ${detail}`);

export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

export const PHASE_WORDS: Record<Phase, string> = {
  analysis: "analysing",
  taskPlanning: "planning",
  workerExecution: "working",
  aggregation: "merging the results",
  verification: "verifying",
};

/** Follows "paused". */
export const PAUSE_WORDS: Record<PauseReason, string> = {
  person: "by the user",
  needs_input: "until you make a decision",
  budget: "because its budget is used up",
  hook: "because a hook failed",
  usage_limit: "until a usage limit ends",
  provider: "because its agents cannot reach their provider",
  storage: "until its session files can be written again",
  environment: "because this machine cannot continue it for now",
  failure: "because its main session failed",
  breaker: "because tasks keep failing in the same way",
};

/** An inbox item of the same moment describes `PAUSES_WITH_ITEM`. */
const PAUSES_WITH_ITEM: ReadonlySet<PauseReason> = new Set(["needs_input", "budget", "usage_limit", "failure"]);

const VERDICTS: Record<Verdict, [Severity, string]> = {
  success: ["good", "the run succeeded"],
  degraded: ["warning", "the run ended, but not everything completed"],
  failed: ["bad", "the run failed"],
  cancelled: ["neutral", "the run was cancelled"],
};

const ofRun = (severity: Severity, headline: string, detail = ""): EventDescription => ({
  severity,
  taskId: null,
  headline,
  detail,
});

/** A null `taskId` is the main session. */
const ofSession = (severity: Severity, taskId: string | null, headline: string, detail = ""): EventDescription =>
  taskId === null ? ofRun(severity, `the main session ${headline}`, detail) : { severity, taskId, headline, detail };

/** `run` is the state after the event; null gives fewer details. Returns null for events that matter to no user. */
export function describeEvent(event: RunEvent, run: Run | null): EventDescription | null {
  const { type, data } = event;
  switch (type) {
    case "orchestrator:created":
      return ofRun("neutral", `run ${data.id} was created with template ${data.templateId} in ${data.cwd}`);
    case "orchestrator:started":
      return ofRun("running", `${PHASE_WORDS[data.phase]} …`);
    case "orchestrator:phaseChanged":
      return data.previousPhase === data.currentPhase ? null : ofRun("running", `${PHASE_WORDS[data.currentPhase]} …`);
    case "orchestrator:analysisComplete":
      return ofRun("neutral", "analysis", data.analysis.summary);
    case "orchestrator:tasksReady":
      return data.errors.length === 0
        ? ofRun("you", "the plan is ready", plural(data.taskCount, "task"))
        : ofRun("bad", "the plan is invalid", data.errors.join("; "));
    case "orchestrator:confirmed":
      return ofRun("good", "the plan was confirmed");
    case "orchestrator:confirmedAhead":
      return ofRun("neutral", "the plan needs no confirmation");
    case "orchestrator:changesRequested":
      return ofRun("neutral", "a new plan was requested", data.text);
    case "orchestrator:paused":
      return PAUSES_WITH_ITEM.has(data.reason) || Object.values(run?.inbox ?? {}).some(isAdviceItem)
        ? null
        : ofRun("warning", `the run is paused ${PAUSE_WORDS[data.reason]}`, data.detail);
    case "orchestrator:resumed":
      return ofRun("running", "the run was resumed");
    case "orchestrator:reopened":
      return ofRun("running", "the run was reopened");
    case "orchestrator:aggregated": {
      const { aggregation, warnings = [] } = data;
      if (warnings.length > 0) return ofRun("warning", "merged", warnings.join("; "));
      return aggregation.summary ? ofRun("neutral", "merged", aggregation.summary) : null;
    }
    case "verification:checking":
      return null;
    case "workspace:outside":
      return ofSession("warning", data.taskId, "changed files outside the scope", data.files.join(", "));
    case "verification:checked": {
      const failed = data.commands.filter(({ exitCode }) => exitCode !== 0);
      if (failed.length > 0) return ofRun("bad", "checks failed", failed.map(describeFailed).join("; "));
      return ofRun("good", "checks passed", data.commands.map(({ name }) => name).join(", "));
    }
    case "conflict:emerging": {
      const [one, other] = data.tasks;
      if (data.files.length === 0) return ofRun("good", `the work of ${one} and ${other} no longer conflicts`);
      return ofRun("warning", `the work of ${one} and ${other} conflicts so far`, data.files.join(", "));
    }
    case "conflict:names":
      if (data.names.length === 0) return ofRun("good", "tasks no longer use names that other tasks changed");
      return ofRun("warning", "tasks use names that other tasks changed", data.names.map(describeUse).join("; "));
    case "merge:checked": {
      const failed = data.commands.filter(({ exitCode }) => exitCode !== 0);
      const subject = data.tasks.length === 0 ? "the run's branch" : data.tasks.join(", ");
      if (failed.length === 0) return ofRun("good", `merge checks passed with ${subject}`);
      return ofRun("bad", `merge checks failed with ${subject}`, failed.map(describeFailed).join("; "));
    }
    case "merge:rejected":
      return ofSession("bad", data.taskId, "was not merged", data.commands.map(describeFailed).join("; "));
    case "verification:fixing":
      return ofRun("warning", "the main session fixes the result", data.reasons.join("; "));
    case "orchestrator:verified": {
      const { status, summary } = data.verification;
      return ofRun("neutral", `verification ${status.replaceAll("_", " ")}`, summary ?? "");
    }
    case "orchestrator:completed":
      return ended(data.outcome, run, "");
    case "orchestrator:cancelled":
      return ended("cancelled", run, "");
    case "orchestrator:error":
      return data.fatal ? ended("failed", run, data.error) : ofRun("bad", `error in ${data.operation}`, data.error);
    case "main:lost":
      return ofRun("warning", "the main session was lost", data.reason);
    case "worker:started":
      return ofSession("running", data.taskId, "started", run?.workers[data.taskId]?.task.title);
    case "worker:progress":
      return data.currentAction === null
        ? null
        : ofSession("running", data.taskId, `${data.progress} %`, data.currentAction);
    case "worker:completed": {
      const { taskId, outputFiles, partial, reused, warnings = [] } = data;
      const source = reused ? `, reused from ${reused.taskId} of ${reused.run}` : "";
      const files = [`${plural(outputFiles.length, "file")} changed${source}`, ...warnings].join("; ");
      return partial
        ? ofSession("warning", taskId, "completed partially", files)
        : ofSession("good", taskId, "completed", files);
    }
    case "worker:failed":
      return ofSession("bad", data.taskId, "failed", data.error);
    case "worker:timeout":
      return ofSession("bad", data.taskId, "timed out", data.error);
    case "worker:cancelled":
      return ofSession("neutral", data.taskId, "was cancelled");
    case "worker:paused":
      return data.by === "person" ? ofSession("warning", data.taskId, "was paused") : null;
    case "worker:resumed":
      return ofSession("running", data.taskId, "was resumed");
    case "worker:retrying":
      return ofSession("running", data.taskId, "is retried");
    case "worker:lost":
      return ofSession("warning", data.taskId, "lost its session and starts a new attempt", data.reason);
    case "worker:redelegated":
      return ofSession("running", data.taskId, "is delegated again");
    case "turn:ended":
      return data.problems.length === 0 || isOver(run, data.taskId)
        ? null
        : ofSession(
            "warning",
            data.taskId,
            "gave no usable answer and is asked again",
            describeProblems(data.problems, run),
          );
    case "protocol:ignored":
      return ofSession("neutral", data.taskId, "sent a report that was ignored", data.reason);
    case "task:blocked":
      return ofSession("warning", data.taskId, `cannot start, because it needs ${data.because.join(", ")}`);
    case "message:rejected":
      return ofSession("warning", data.taskId, "sent a message that has no effect", data.reasons.join(" "));
    case "message:resent":
      return ofSession("warning", data.taskId, "did not acknowledge its message, which is sent again");
    case "message:expired":
      return ofSession("warning", data.taskId, "did not acknowledge its message", data.reason);
    case "worker:stopped":
      return ofSession("neutral", data.taskId, `was stopped in ${data.tookMs} ms`);
    case "task:submitted":
      return ofSession("neutral", data.taskId, "waits for a verdict");
    case "task:overdue":
      return ofSession("warning", data.taskId, "is overdue");
    case "task:delegating":
      return ofSession("neutral", data.taskId, "waits for the tasks that it delegated");
    case "task:approved":
      return ofSession("good", data.taskId, `was approved by ${data.by}`);
    case "task:rejected":
      return ofSession("warning", data.taskId, `was rejected by ${data.by}`, data.reasons.join(" "));
    case "breaker:open":
      return ofRun("bad", "the circuit breaker is open", data.reason);
    case "plan:extended":
      return ofRun("neutral", "the plan was extended", data.added.join(", "));
    case "lead:completed":
      return ofRun("good", "the main session reports the request as done", data.summary);
    case "gate:opened":
      return ofRun("good", `the gate of ${data.environment} is open`, `${data.approvedBy} approved ${data.commit}`);
    case "gate:closed":
      return ofRun("warning", `the gate of ${data.environment} is closed`, data.reasons.join(" "));
    case "gate:refused":
      return ofSession("bad", data.taskId, `was refused by the gate of ${data.environment}`, data.reasons.join(" "));
    case "gate:overridden":
      return ofRun("bad", `the gate of ${data.environment} was overridden by ${data.by}`, data.reason);
    case "workspace:conflict": {
      const { files, tasks } = data.conflict;
      return ofRun("warning", `conflict in ${files.join(", ")} between ${tasks.join(" and ")}`);
    }
    case "workspace:repairing":
      return ofRun(
        "running",
        `the main session settles ${data.files.join(", ")} before ${data.tasks.join(", ")} starts`,
      );
    case "workspace:repaired":
      return ofRun("good", "the conflicts are settled", data.repair.summary ?? "");
    case "result:merged":
      return ofRun("good", `the result is merged into ${data.branch}`);
    case "result:dropped":
      return ofRun("neutral", "the branch of the result is removed");
    case "branch:moved":
      return ofRun("bad", describeMovedRef(data));
    case "subagent:started":
      return ofSession("running", data.taskId, "started a sub-agent", data.description ?? "");
    case "subagent:ended":
      return ofSession(
        "neutral",
        data.taskId,
        "ended a sub-agent",
        run?.subagents?.[data.childSessionId]?.description ?? "",
      );
    case "message:steered": {
      const { taskId } = event.data;
      const headline = `${taskId === null ? "the main session " : ""}received your message during its turn`;
      return { severity: "neutral", taskId, headline, detail: "" };
    }
    case "repository:changed":
      return ofRun("warning", describeChange(data).replace(/^W/, "w"));
    case "inbox:added":
      return describeItem(data.item);
    case "inbox:answered":
      return data.withdrawn ? null : ofRun("good", "answered", data.text);
    default:
      return null;
  }
}

/** Whether the item is about a refused login or payment, which has `advice`. */
const isAdviceItem = ({ kind, evidence }: Pick<InboxItem, "kind" | "evidence">): boolean =>
  kind === "limit" && (evidence as { advice?: string } | undefined)?.advice !== undefined;

export function describeItem(item: InboxItem): EventDescription {
  const { kind, taskId, question } = item;
  switch (kind) {
    case "plan":
      return ofRun("you", "a plan waits to be confirmed", question);
    case "question":
      return ofSession("you", taskId, "asks", question);
    case "permission":
      return ofSession("you", taskId, "asks for permission", question);
    case "data":
      return ofRun("you", "the run needs data that no session could give", question);
    case "decision":
      return ofRun("you", "the run needs a decision", question);
    case "budget":
      return ofRun("you", `the run is paused ${PAUSE_WORDS.budget}`, question);
    case "limit":
      return ofRun(
        "you",
        `the run is paused ${PAUSE_WORDS[isAdviceItem(item) ? "provider" : "usage_limit"]}`,
        question,
      );
    case "failure":
      return ofSession("bad", taskId, "failed", question);
    case "blocker":
      return ofSession("you", taskId, "is blocked", question);
    case "validation":
      return ofSession("you", taskId, "waits for your verdict", question);
    case "gate":
      return ofSession("you", taskId, "waits for the gate", question);
    case "host":
      return ofSession("you", taskId, "waits for a host", question);
  }
}

function ended(verdict: Verdict, run: Run | null, error: string): EventDescription {
  const facts = run ? [describeCensus(census(run)), ...describeUsage(run.usage)].join("; ") : "";
  return ofRun(...VERDICTS[verdict], [error, facts].filter((part) => part !== "").join(" — "));
}

const CENSUS_WORDS: Record<string, string> = { timeout: "timed out", neverStarted: "never started" };

function describeCensus({ planned, ...standings }: Census): string {
  const some = Object.entries(standings).filter(([, count]) => count > 0);
  return [`${planned} planned`, ...some.map(([name, count]) => `${count} ${CENSUS_WORDS[name] ?? name}`)].join(", ");
}

const describeUsage = ({ usd, inputTokens, outputTokens }: Usage): string[] => [
  ...(usd > 0 ? [`$${usd.toFixed(2)}`] : []),
  ...(inputTokens + outputTokens > 0 ? [`${inputTokens + outputTokens} tokens`] : []),
];

function isOver(run: Run | null, taskId: string | null): boolean {
  const worker = taskId === null ? undefined : run?.workers[taskId];
  return (run !== null && isRunOver(run.status)) || (worker !== undefined && isWorkerOver(worker.status));
}
