// `describeEvent` turns events into sentences for users. The command line, the dashboard and notifications take all
// their sentences from here; each decides only which events it shows and how it formats, masks and truncates the text.
// The dashboard passes a `Say` that translates. Words of agents and users never pass through it.
import { describeFailed } from "./rules/checks.ts";
import { census } from "./census.ts";
import { describeUse } from "./outcome/used-names.ts";
import { describeProblems } from "./describe-problems.ts";
import { describeChange, describeMovedRef } from "./outcome/repository-warnings.ts";
import type { PauseReason, RunEvent } from "../schema/event.ts";
import type { VerificationAnswer } from "../schema/answer.ts";
import type { InboxItem } from "../schema/inbox.ts";
import type { Census, CheckedCommand, Usage, Verdict } from "../schema/outcome.ts";
import type { Run } from "../schema/run.ts";
import { capitalize, sentence, type Say } from "../sentence.ts";
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

export const withDetail = (title: string, detail: string, say: Say = sentence): string =>
  detail === "" ? title : say("{title}: {detail}", { title, detail });

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

export const PHASE_WORDS: Record<Phase, string> = {
  analysis: sentence("analysing"),
  taskPlanning: sentence("planning"),
  workerExecution: sentence("working"),
  aggregation: sentence("merging the results"),
  verification: sentence("verifying"),
};

/** Follows "paused". */
export const PAUSE_WORDS: Record<PauseReason, string> = {
  person: sentence("by the user"),
  needs_input: sentence("until you make a decision"),
  budget: sentence("because its budget is used up"),
  hook: sentence("because a hook failed"),
  usage_limit: sentence("until a usage limit ends"),
  provider: sentence("because its agents cannot reach their provider"),
  storage: sentence("until its session files can be written again"),
  environment: sentence("because this machine cannot continue it for now"),
  failure: sentence("because its main session failed"),
  breaker: sentence("because tasks keep failing in the same way"),
};

/** An inbox item of the same moment describes `PAUSES_WITH_ITEM`. */
const PAUSES_WITH_ITEM: ReadonlySet<PauseReason> = new Set(["needs_input", "budget", "usage_limit", "failure"]);

/** Tutti writes these answers to a plan; users and agents write all others. */
const BY_TUTTI: ReadonlySet<string> = new Set(["approved", "edited"]);

const VERIFICATIONS: Record<VerificationAnswer["status"], string> = {
  passed: sentence("verification passed"),
  passed_with_warnings: sentence("verification passed with warnings"),
  failed: sentence("verification failed"),
};

const VERDICTS: Record<Verdict, [Severity, string]> = {
  success: ["good", sentence("the run succeeded")],
  degraded: ["warning", sentence("the run ended, but not everything completed")],
  failed: ["bad", sentence("the run failed")],
  cancelled: ["neutral", sentence("the run was cancelled")],
};

const ofRun = (severity: Severity, headline: string, detail = ""): EventDescription => ({
  severity,
  taskId: null,
  headline,
  detail,
});

/** `run` is the state after the event; null gives fewer details. Returns null for events that matter to no user. */
export function describeEvent(event: RunEvent, run: Run | null, say: Say = sentence): EventDescription | null {
  const { type, data } = event;
  const ofSession = sessionDescriber(say);
  const sayAll = (texts: readonly string[], separator = "; ") => texts.map((text) => say(text)).join(separator);
  switch (type) {
    case "orchestrator:created": {
      const { id, templateId: template, cwd } = data;
      return ofRun("neutral", say("run {id} was created with template {template} in {cwd}", { id, template, cwd }));
    }
    case "orchestrator:started":
      return ofRun("running", `${say(PHASE_WORDS[data.phase])} …`);
    case "orchestrator:phaseChanged":
      return data.previousPhase === data.currentPhase
        ? null
        : ofRun("running", `${say(PHASE_WORDS[data.currentPhase])} …`);
    case "orchestrator:analysisComplete":
      return ofRun("neutral", say("analysis"), data.analysis.summary);
    case "orchestrator:tasksReady": {
      const { taskCount: count, errors } = data;
      if (errors.length > 0) return ofRun("bad", say("the plan is invalid"), sayAll(errors));
      return ofRun("you", say("the plan is ready"), say(count === 1 ? "{count} task" : "{count} tasks", { count }));
    }
    case "orchestrator:confirmed":
      return ofRun("good", say("the plan was confirmed"));
    case "orchestrator:confirmedAhead":
      return ofRun("neutral", say("the plan needs no confirmation"));
    case "orchestrator:changesRequested":
      return ofRun("neutral", say("a new plan was requested"), data.text);
    case "orchestrator:paused":
      return PAUSES_WITH_ITEM.has(data.reason) || Object.values(run?.inbox ?? {}).some(isAdviceItem)
        ? null
        : ofRun("warning", describePauseReason(data.reason, say), say(data.detail));
    case "orchestrator:resumed":
      return ofRun("running", say("the run was resumed"));
    case "orchestrator:reopened":
      return ofRun("running", say("the run was reopened"));
    case "orchestrator:aggregated": {
      const { aggregation, warnings = [], unproven = [] } = data;
      const doubts = [...warnings, ...unproven];
      if (doubts.length > 0) return ofRun("warning", say("merged"), sayAll(doubts));
      return aggregation.summary ? ofRun("neutral", say("merged"), aggregation.summary) : null;
    }
    case "verification:checking":
      return null;
    case "workspace:outside":
      return ofSession("warning", data.taskId, say("changed files outside the scope"), data.files.join(", "));
    case "verification:checked": {
      const failed = data.commands.filter(({ exitCode }) => exitCode !== 0);
      if (failed.length > 0) return ofRun("bad", say("checks failed"), describeAllFailed(failed, say));
      return ofRun("good", say("checks passed"), data.commands.map(({ name }) => name).join(", "));
    }
    case "conflict:emerging": {
      const [one = "", other = ""] = data.tasks;
      if (data.files.length === 0) {
        return ofRun("good", say("the work of {one} and {other} no longer conflicts", { one, other }));
      }
      const headline = say("the work of {one} and {other} conflicts so far", { one, other });
      return ofRun("warning", headline, data.files.join(", "));
    }
    case "conflict:names": {
      if (data.names.length === 0) return ofRun("good", say("tasks no longer use names that other tasks changed"));
      const uses = data.names.map((use) => describeUse(use, say));
      return ofRun("warning", say("tasks use names that other tasks changed"), uses.join("; "));
    }
    case "merge:checked": {
      const failed = data.commands.filter(({ exitCode }) => exitCode !== 0);
      const subject = data.tasks.length === 0 ? say("the run's branch") : data.tasks.join(", ");
      if (failed.length === 0) return ofRun("good", say("merge checks passed with {subject}", { subject }));
      return ofRun("bad", say("merge checks failed with {subject}", { subject }), describeAllFailed(failed, say));
    }
    case "merge:rejected":
      return ofSession("bad", data.taskId, say("was not merged"), describeAllFailed(data.commands, say));
    case "verification:fixing":
      return ofRun("warning", say("the main session fixes the result"), sayAll(data.reasons));
    case "orchestrator:verified": {
      const { status, summary } = data.verification;
      return ofRun("neutral", say(VERIFICATIONS[status]), summary ?? "");
    }
    case "orchestrator:completed":
      return ended(data.outcome, run, "", say);
    case "orchestrator:cancelled":
      return ended("cancelled", run, "", say);
    case "orchestrator:error": {
      const { operation, error, fatal } = data;
      return fatal
        ? ended("failed", run, say(error), say)
        : ofRun("bad", say("error in {operation}", { operation }), say(error));
    }
    case "main:lost":
      return ofRun("warning", say("the main session was lost"), say(data.reason));
    case "worker:started":
      return ofSession("running", data.taskId, say("started"), run?.workers[data.taskId]?.task.title);
    case "worker:progress":
      return data.currentAction === null
        ? null
        : ofSession("running", data.taskId, `${data.progress} %`, data.currentAction);
    case "worker:completed": {
      const { taskId, outputFiles, partial, reused, warnings = [] } = data;
      const count = outputFiles.length;
      const files = say(count === 1 ? "{count} file changed" : "{count} files changed", { count });
      const source = reused ? `, ${say("reused from {task} of {run}", { task: reused.taskId, run: reused.run })}` : "";
      const detail = [`${files}${source}`, ...warnings.map((warning) => say(warning))].join("; ");
      return partial
        ? ofSession("warning", taskId, say("completed partially"), detail)
        : ofSession("good", taskId, say("completed"), detail);
    }
    case "worker:failed":
      return ofSession("bad", data.taskId, say("failed"), say(data.error));
    case "worker:timeout":
      return ofSession("bad", data.taskId, say("timed out"), say(data.error));
    case "worker:cancelled":
      return ofSession("neutral", data.taskId, say("was cancelled"));
    case "worker:paused":
      return data.by === "person" ? ofSession("warning", data.taskId, say("was paused")) : null;
    case "worker:resumed":
      return ofSession("running", data.taskId, say("was resumed"));
    case "worker:retrying":
      return ofSession("running", data.taskId, say("is retried"));
    case "worker:lost":
      return ofSession("warning", data.taskId, say("lost its session and starts a new attempt"), say(data.reason));
    case "worker:redelegated":
      return ofSession("running", data.taskId, say("is delegated again"));
    case "turn:ended":
      return data.problems.length === 0 || isOver(run, data.taskId)
        ? null
        : ofSession(
            "warning",
            data.taskId,
            say("gave no usable answer and is asked again"),
            data.problems.map((problem) => say(describeProblems([problem], run))).join(" "),
          );
    case "protocol:ignored":
      return ofSession("neutral", data.taskId, say("sent a report that was ignored"), say(data.reason));
    case "task:blocked": {
      const needs = data.because.join(", ");
      return ofSession("warning", data.taskId, say("cannot start, because it needs {needs}", { needs }));
    }
    case "message:rejected":
      return ofSession("warning", data.taskId, say("sent a message that has no effect"), sayAll(data.reasons, " "));
    case "message:resent":
      return ofSession("warning", data.taskId, say("did not acknowledge its message, which is sent again"));
    case "message:expired":
      return ofSession("warning", data.taskId, say("did not acknowledge its message"), say(data.reason));
    // An inbox item describes a blocker that the user answers.
    case "blocker:raised":
      return data.itemId === null
        ? ofSession("warning", data.taskId, say("is blocked and asks its lead"), data.description)
        : null;
    case "blocker:resolved":
      return data.itemId === null
        ? ofSession("good", data.taskId, say("got an answer from {by}", { by: data.by }), data.decision)
        : null;
    case "worker:stopped":
      return ofSession("neutral", data.taskId, say("was stopped in {ms} ms", { ms: data.tookMs }));
    case "task:submitted":
      return ofSession("neutral", data.taskId, say("waits for a verdict"));
    case "task:overdue":
      return ofSession("warning", data.taskId, say("is overdue"));
    case "task:delegating":
      return ofSession("neutral", data.taskId, say("waits for the tasks that it delegated"));
    case "task:approved":
      return ofSession("good", data.taskId, say("was approved by {by}", { by: data.by }));
    case "task:rejected":
      return ofSession("warning", data.taskId, say("was rejected by {by}", { by: data.by }), sayAll(data.reasons, " "));
    case "breaker:open":
      return ofRun("bad", say("the circuit breaker is open"), say(data.reason));
    case "plan:extended":
      return ofRun("neutral", say("the plan was extended"), data.added.join(", "));
    case "lead:completed":
      return ofRun("good", say("the main session reports the request as done"), data.summary);
    case "gate:opened": {
      const { environment, approvedBy: by, commit } = data;
      return ofRun(
        "good",
        say("the gate of {environment} is open", { environment }),
        say("{by} approved {commit}", { by, commit }),
      );
    }
    case "gate:closed": {
      const { environment } = data;
      return ofRun("warning", say("the gate of {environment} is closed", { environment }), sayAll(data.reasons, " "));
    }
    case "gate:refused": {
      const headline = say("was refused by the gate of {environment}", { environment: data.environment });
      return ofSession("bad", data.taskId, headline, sayAll(data.reasons, " "));
    }
    case "gate:overridden": {
      const { environment, by, reason } = data;
      return ofRun("bad", say("the gate of {environment} was overridden by {by}", { environment, by }), reason);
    }
    case "workspace:conflict": {
      const { files, tasks } = data.conflict;
      const between = { files: files.join(", "), tasks: tasks.join(say(" and ")) };
      return ofRun("warning", say("conflict in {files} between {tasks}", between));
    }
    case "workspace:repairing": {
      const before = { files: data.files.join(", "), tasks: data.tasks.join(", ") };
      return ofRun("running", say("the main session settles {files} before {tasks} starts", before));
    }
    case "workspace:repaired":
      return ofRun("good", say("the conflicts are settled"), data.repair.summary ?? "");
    case "result:merged":
      return ofRun("good", say("the result is merged into {branch}", { branch: data.branch }));
    case "result:dropped":
      return ofRun("neutral", say("the branch of the result is removed"));
    case "branch:moved":
      return ofRun("bad", describeMovedRef(data, say));
    case "subagent:started":
      return ofSession("running", data.taskId, say("started a sub-agent"), data.description ?? "");
    case "subagent:ended":
      return ofSession(
        "neutral",
        data.taskId,
        say("ended a sub-agent"),
        run?.subagents?.[data.childSessionId]?.description ?? "",
      );
    case "message:steered":
      return ofSession("neutral", data.taskId, say("received your message during its turn"));
    case "repository:changed":
      return ofRun(
        "warning",
        describeChange(data, say).replace(/^./, (first) => first.toLowerCase()),
      );
    case "inbox:added":
      return describeItem(data.item, say);
    case "inbox:answered":
      return data.withdrawn
        ? null
        : ofRun("good", say("answered"), BY_TUTTI.has(data.text) ? say(data.text) : data.text);
    default:
      return null;
  }
}

/** A null `taskId` is the main session. */
const sessionDescriber =
  (say: Say) =>
  (severity: Severity, taskId: string | null, predicate: string, detail = ""): EventDescription =>
    taskId === null
      ? ofRun(severity, say("the main session {predicate}", { predicate }), detail)
      : { severity, taskId, headline: predicate, detail };

export const describePauseReason = (reason: PauseReason, say: Say): string =>
  say("the run is paused {why}", { why: say(PAUSE_WORDS[reason]) });

const describeAllFailed = (commands: readonly CheckedCommand[], say: Say): string =>
  commands.map((command) => describeFailed(command, say)).join("; ");

/** Whether the item is about a refused login or payment, which has `advice`. */
const isAdviceItem = ({ kind, evidence }: Pick<InboxItem, "kind" | "evidence">): boolean =>
  kind === "limit" && (evidence as { advice?: string } | undefined)?.advice !== undefined;

export function describeItem(item: InboxItem, say: Say = sentence): EventDescription {
  const { kind, taskId } = item;
  const ofSession = sessionDescriber(say);
  const question = describeQuestion(item, say);
  switch (kind) {
    case "plan":
      return ofRun("you", say("a plan waits to be confirmed"), question);
    case "question":
      return ofSession("you", taskId, say("asks"), question);
    case "permission":
      return ofSession("you", taskId, say("asks for permission"), question);
    case "data":
      return ofRun("you", say("the run needs data that no session could give"), question);
    case "decision":
      return ofRun("you", say("the run needs a decision"), question);
    case "budget":
      return ofRun("you", describePauseReason("budget", say), question);
    case "limit":
      return ofRun("you", describePauseReason(isAdviceItem(item) ? "provider" : "usage_limit", say), question);
    case "failure":
      return ofSession("bad", taskId, say("failed"), question);
    case "blocker":
      return ofSession("you", taskId, say("is blocked"), question);
    case "validation":
      return ofSession("you", taskId, say("waits for your verdict"), question);
    case "gate":
      return ofSession("you", taskId, say("waits for the gate"), question);
    case "host":
      return ofSession("you", taskId, say("waits for a host"), question);
  }
}

/** Items of an agent hold its words; Tutti wrote all others. */
export const isOfAgent = ({ kind }: Pick<InboxItem, "kind">): boolean => kind === "question" || kind === "permission";

export const describeQuestion = (item: Pick<InboxItem, "kind" | "question">, say: Say): string =>
  isOfAgent(item) ? item.question : say(item.question);

function ended(verdict: Verdict, run: Run | null, error: string, say: Say): EventDescription {
  const [severity, headline] = VERDICTS[verdict];
  const facts = run ? [describeCensus(census(run), say), ...describeUsage(run.usage, say)].join("; ") : "";
  return ofRun(severity, say(headline), [error, facts].filter((part) => part !== "").join(" — "));
}

const CENSUS_TEXTS: Record<keyof Census, string> = {
  planned: sentence("{count} planned"),
  completed: sentence("{count} completed"),
  failed: sentence("{count} failed"),
  timeout: sentence("{count} timed out"),
  cancelled: sentence("{count} cancelled"),
  skipped: sentence("{count} skipped"),
  blocked: sentence("{count} blocked"),
  neverStarted: sentence("{count} never started"),
};

const describeCensus = (counts: Census, say: Say): string =>
  (Object.keys(CENSUS_TEXTS) as (keyof Census)[])
    .filter((name) => counts[name] > 0 || name === "planned")
    .map((name) => say(CENSUS_TEXTS[name], { count: counts[name] }))
    .join(", ");

const describeUsage = ({ usd, inputTokens, outputTokens }: Usage, say: Say): string[] => [
  ...(usd > 0 ? [`$${usd.toFixed(2)}`] : []),
  ...(inputTokens + outputTokens > 0 ? [say("{count} tokens", { count: inputTokens + outputTokens })] : []),
];

function isOver(run: Run | null, taskId: string | null): boolean {
  const worker = taskId === null ? undefined : run?.workers[taskId];
  return (run !== null && isRunOver(run.status)) || (worker !== undefined && isWorkerOver(worker.status));
}
