// A small team without git and sessions: a developer, a review and a deployment, driven through the rules.
import { makeTemplate, Story } from "../run/make-run.ts";
import { readMessages } from "../../src/engine/sessions/read-messages.ts";
import { TurnRecord } from "../../src/engine/sessions/turn-record.ts";
import type { ReadMessage } from "../../src/run/command.ts";
import type { RunEvent } from "../../src/schema/event.ts";
import { Template } from "../../src/schema/template.ts";

const OFF = { enabled: false };

export function gatedTemplate(more: { gate?: object; team?: object; roles?: object } = {}): Template {
  const step = (id: string, role: string, ...after: string[]) => ({
    id,
    role,
    title: id,
    requirements: [`do ${id}`],
    acceptanceCriteria: [`${id} is done`],
    after,
  });
  const base = makeTemplate();
  return Template.parse({
    ...base,
    config: { ...base.config, acceptWithoutWork: true },
    phases: { ...base.phases, analysis: OFF, taskPlanning: OFF, aggregation: OFF },
    roles: {
      DEVELOPER: { protocol: "messages" },
      SECURITY_AUDITOR: { protocol: "messages", workspace: "read" },
      DEPLOYMENT: { protocol: "messages" },
      ...more.roles,
    },
    pipeline: [
      step("developer", "DEVELOPER"),
      { ...step("review", "SECURITY_AUDITOR", "developer"), filesToReview: ["**/*"] },
      step("deployment", "DEPLOYMENT", "review"),
    ],
    ...(more.gate ? { gate: more.gate } : {}),
    ...(more.team ? { team: more.team } : {}),
  });
}

export const approvalOf = (taskId: string): ReadMessage => ({
  type: "TASK_APPROVAL",
  body: { message_type: "TASK_APPROVAL", task_id: taskId },
  exact: true,
  reasons: [],
  faults: [],
});

export class GateStory extends Story {
  constructor(template = gatedTemplate({ team: { rejectionLimit: 0 } })) {
    super(template);
    this.do({ type: "start", base: "base", warnings: [] });
    this.do({ type: "confirm" });
  }

  /** Ends the turn of a task with the text of its agent, read as the engine reads it. */
  speak(taskId: string, text: string, commit?: string): RunEvent[] {
    return [...this.escalate(taskId, text, commit), ...this.#approve()];
  }

  /** Like `speak`, but the main session has not answered yet. */
  escalate(taskId: string, text: string, commit = `commit-of-${taskId}`): RunEvent[] {
    const worker = this.run.workers[taskId]!;
    const record = new TurnRecord(this.run.template.prompts.responseFormat, true);
    record.text(text.replaceAll("{TASK_ID}", taskId), true);
    const { answer, problems, messages } = readMessages(this.run, worker, record, "")!;
    const isReview = worker.task.role === "SECURITY_AUDITOR";
    const work = { commit: isReview ? worker.session.start! : commit, files: [], head: null };
    return this.answerWorker(taskId, answer, { problems, messages, work: answer ? work : null });
  }

  /** The main session approves what waits for its verdict. */
  #approve(): RunEvent[] {
    const { duty } = this.run;
    if (!duty) return [];
    this.do({ type: "spawnMain" });
    if (this.run.main!.state === "spawning")
      this.do({ type: "ready", sessionId: this.run.main!.sessionId, start: "base" });
    return this.answerMain(null, { messages: [approvalOf(duty.taskId)] });
  }

  /** Starts the session of a task at a commit, with its first turn. */
  begin(taskId: string, start = "base"): void {
    this.do({ type: "spawn", taskId });
    const worker = this.run.workers[taskId];
    if (worker?.status === "spawning")
      this.do({ type: "ready", sessionId: worker.sessionId, start: worker.session.start ?? start });
  }

  get gate() {
    return this.run.gate?.["staging"]?.state ?? "closed";
  }
}
