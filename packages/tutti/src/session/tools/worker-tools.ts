// `workerTools` are the tools that Tutti offers to its agents. The token of a call belongs to one session, so no
// argument names a task.
import { z } from "zod";
import { TASK_READ, type ToolDesk } from "./tool-desk.ts";
import { defineTool, type McpTool } from "../../mcp/mcp-tool.ts";
import { InvalidArguments } from "../../mcp/invalid-arguments.ts";
import { readDelegationMessage } from "../../protocol/delegation/delegation-message.ts";
import { READ_LENIENTLY } from "../../protocol/response/profile.ts";
import { BLOCKER_TYPES, ESCALATION_TARGETS, SEVERITIES } from "../../protocol/messages/message-schema.ts";
import { answerProblems } from "../../protocol/response/answer-problems.ts";
import { ANSWERS, type BlockPhase } from "../../schema/answer.ts";
import { TuttiError } from "../../schema/error.ts";
import { slug } from "../../schema/team/roles.ts";

export const WORKER_INSTRUCTIONS =
  "Tutti runs you as one of several agents. You may answer with these tools instead of the delimited block that the prompt " +
  "describes: attempt_completion or submit_response once, then end your turn. If the prompt asks you to, read your task with " +
  "read_task first. report_progress shows the user what you do. " +
  "ask and escalate_blocker wait until the user has answered. new_task gives a part of your work to another agent.";

const ACCEPTED = "Accepted. End your turn now without a block.";
const DELEGATED =
  "Accepted. Delegate more tasks that can run at the same time, then end your turn without a block. Each result reaches you with a later turn, in which the work of the task is in your folder.";
const ESCALATED = "Accepted. End your turn now. The decision reaches you with your next turn; read it with read_task.";
const PHASES = Object.keys(ANSWERS) as [BlockPhase];
/** Agents copy these from messages of document 003. The token determines the sender, so they must not contradict it. */
const identity = {
  task_id: z.string().optional().describe("Not needed."),
  from_agent: z.string().optional().describe("Not needed."),
  to_agent: z.string().optional().describe("Not needed."),
  message_type: z.literal("BLOCKER_ESCALATION").optional(),
  timestamp: z.string().optional().describe("Not needed."),
};

export function workerTools(desk: ToolDesk): Record<string, McpTool> {
  const taskPart = desk.taskId === null ? {} : { task_id: desk.taskId };

  /** Validates an answer as the engine will do it, and reports it. */
  function submit(phase: BlockPhase, given: Record<string, unknown>): string {
    const isAtOnce = phase === "progress" || phase === "heartbeat";
    if (!isAtOnce && desk.phase !== null && phase !== desk.phase) {
      throw new InvalidArguments([
        { path: "phase", problem: `must be "${desk.phase}" in this turn; it is "${phase}"` },
      ]);
    }
    checkTask(given["task_id"], "data.task_id");
    const data = { ...given, ...taskPart };
    const problems = answerProblems(phase, data);
    if (problems.length > 0) throw new InvalidArguments(problems);
    desk.report(phase, data);
    return isAtOnce ? "Noted." : ACCEPTED;
  }

  function checkTask(named: unknown, path: string): void {
    if (named === undefined || named === desk.taskId) return;
    const own = desk.taskId === null ? "must be left out" : `must be ${JSON.stringify(desk.taskId)} or left out`;
    throw new InvalidArguments([{ path, problem: `${own}; this session works on nothing else` }]);
  }

  return {
    read_task: defineTool({
      description:
        "Returns the message to you: your task, the reasons why your report was rejected, or the answer to your blocker. Only for agents whose prompt asks for it.",
      input: z.strictObject({}),
      call: async () => {
        if (desk.message === null)
          throw new TuttiError("wrong_state", "The prompt of this turn contains your whole task. Answer it.");
        desk.report(TASK_READ, {});
        return desk.message;
      },
    }),
    report_progress: defineTool({
      description: "Shows the user how far you are. Call it now and then during long work.",
      input: z.strictObject({
        percent: z.number().min(0).max(100),
        action: z.string().min(1).describe("What you do now, in a few words."),
      }),
      call: async ({ percent, action }) => {
        const data = { ...taskPart, status: "in_progress", progress_percent: percent, current_action: action };
        desk.report("progress", data);
        return "Noted.";
      },
    }),
    submit_response: defineTool({
      description: "Answers this turn with the data that the prompt asks for, in place of a delimited block.",
      input: z.strictObject({ phase: z.enum(PHASES), data: z.record(z.string(), z.unknown()) }),
      call: async ({ phase, data }) => submit(phase, data),
    }),
    attempt_completion: defineTool({
      description: "Reports the end of your task, in place of a delimited block.",
      input: z.strictObject({
        result: z.string().min(1).describe('"success", "partial" or "failure", or the result in words.'),
        summary: z.string().optional(),
        output_files: z.array(z.string()).optional().describe("Files that you created or changed."),
        acceptance_criteria_met: z
          .array(z.boolean())
          .optional()
          .describe("One value for each acceptance criterion of your task."),
        issues: z.array(z.string()).optional().describe("What is not as it should be."),
      }),
      call: async (completion) => {
        if (desk.hasDelegated)
          throw new TuttiError(
            "wrong_state",
            "You have delegated tasks in this turn. End it now, and report when all of them have returned.",
          );
        if (isLeadOfDelegation(desk)) {
          desk.report("attempt_completion", leadReport(completion));
          return ACCEPTED;
        }
        const { phase, data } = completionAnswer(desk, completion);
        return submit(phase, data);
      },
    }),
    new_task: defineTool({
      description:
        "Delegates a part of your work to another agent, which starts from your work when you end your turn. Its result reaches you with a later turn. Delegate only parts that are worth an agent of their own.",
      input: z.looseObject({
        mode: z.string().min(1).describe("The kind of agent, for example code or architect."),
        message: z.string().min(1).describe("Everything that the other agent needs to know about its task."),
        taskId: z.string().optional().describe("A new id, or that of a task of yours that has to be done again."),
        context: z.string().optional(),
        acceptanceCriteria: z.array(z.string()).optional(),
      }),
      call: async (given) => {
        desk.report("new_task", newTask(desk, given));
        desk.hasDelegated = true;
        return DELEGATED;
      },
    }),
    escalate_blocker: defineTool({
      description:
        "Reports a problem that you cannot solve, and waits for the decision unless the result says otherwise.",
      input: z.strictObject({
        blocker_type: z.enum(BLOCKER_TYPES),
        description: z.string().min(1),
        severity: z.enum(SEVERITIES).optional(),
        options: z.array(z.string().min(1)).optional(),
        suggested_resolution: z.string().optional(),
        context: z.string().optional(),
        escalate_to: z.enum(ESCALATION_TARGETS).optional(),
        ...identity,
      }),
      call: async (blocker, { signal }) => {
        checkTask(blocker.task_id, "task_id");
        const { description: question, options } = blocker;
        const body = { ...blocker, message_type: "BLOCKER_ESCALATION", ...taskPart, from_agent: desk.role };
        if (desk.message !== null) {
          desk.report("BLOCKER_ESCALATION", body);
          return ESCALATED;
        }
        const asked = { question, ...(options?.length ? { options } : {}), blocker: body };
        const decision = await desk.ask(asked, signal);
        return {
          message_type: "BLOCKER_RESOLUTION",
          ...taskPart,
          from_agent: "human",
          to_agent: desk.role,
          decision,
          resume_task: true,
        };
      },
    }),
    ask: defineTool({
      description: "Asks the user, and waits for the answer.",
      input: z.strictObject({ question: z.string().min(1), options: z.array(z.string().min(1)).optional() }),
      call: ({ question, options }, { signal }) =>
        desk.ask({ question, ...(options?.length ? { options } : {}) }, signal),
    }),
    read_messages: defineTool({
      description: "Returns messages that the user sent during this turn, each once.",
      input: z.strictObject({}),
      call: async () => ({ messages: desk.readMessages() }),
    }),
  };
}

/** `newTask` is the corresponding message of document 002. The engine chooses the id of a task without one. */
function newTask(
  desk: ToolDesk,
  { mode, message, ...more }: { mode: string; message: string },
): Record<string, unknown> {
  if ("refusal" in desk.delegation) throw new TuttiError("wrong_state", desk.delegation.refusal);
  const { modes } = desk.delegation;
  if (modes.length > 0 && !modes.some((each) => slug(each) === slug(mode)))
    throw new InvalidArguments([{ path: "mode", problem: `must be one of ${modes.join(", ")}; it is "${mode}"` }]);
  const body = { ...more, delegatedToMode: mode, objective: message };
  const { message: read, problems } = readDelegationMessage({ taskId: "new", ...body }, READ_LENIENTLY);
  if (read !== null) return body;
  const errors = problems.filter(({ severity }) => severity === "error");
  throw new InvalidArguments(errors.map(({ path, sentence }) => ({ path, problem: sentence })));
}

/** The session leads the run by delegating all work, and the turn is not about its result as a whole. */
const isLeadOfDelegation = ({ taskId, delegation, phase }: ToolDesk): boolean =>
  taskId === null && "modes" in delegation && (phase === "task_list" || phase === "completion");

/** `leadReport` is for a session without a task, as a message of document 002. */
function leadReport({ result, summary, output_files: files = [] }: Completion): Record<string, unknown> {
  const failed = FAILED.has(checkFinished(result));
  const outputArtifacts = files.map((path) => ({ type: "file", path }));
  return { taskId: "request", result: failed ? "failure" : "success", summary: summary ?? result, outputArtifacts };
}

const FAILED = new Set(["failure", "failed", "error"]);
const PARTIAL = new Set(["partial"]);
/** `UNFINISHED` results of document 002 wait for an answer. The value is the tool that gets one. */
const UNFINISHED: Readonly<Record<string, string>> = {
  clarification_needed: "ask",
  conflict_detected: "escalate_blocker",
};

interface Completion {
  result: string;
  summary?: string | undefined;
  output_files?: string[] | undefined;
  acceptance_criteria_met?: boolean[] | undefined;
  issues?: string[] | undefined;
}

function checkFinished(result: string): string {
  const word = result.trim().toLowerCase();
  if (!Object.hasOwn(UNFINISHED, word)) return word;
  const problem = `must be "success", "partial" or "failure"; call ${UNFINISHED[word]} and continue with its answer`;
  throw new InvalidArguments([{ path: "result", problem }]);
}

/** `completionAnswer` is the corresponding answer of the open turn. A result in words is a success with these words. */
function completionAnswer(desk: ToolDesk, completion: Completion) {
  const { result, summary, output_files: files, acceptance_criteria_met: met, issues = [] } = completion;
  const word = checkFinished(result);
  const isWord = FAILED.has(word) || PARTIAL.has(word) || word === "success" || word === "completed";
  const text = summary ?? (isWord ? undefined : result);
  const said = { ...(text === undefined ? {} : { summary: text }), ...(files ? { output_files: files } : {}) };
  const failed = FAILED.has(word);
  const phase = desk.phase ?? "completion";
  switch (phase) {
    case "completion": {
      const status = failed ? "failed" : PARTIAL.has(word) ? "partial" : "success";
      const error = failed ? { error: text ?? "the agent reported a failure" } : {};
      const all_passed = status === "success" && !met?.includes(false);
      const validation = { ...(met ? { acceptance_criteria_met: met } : {}), all_passed, issues };
      const judged = met || desk.message !== null ? { validation } : {};
      return { phase, data: { status, ...said, ...error, ...(isWord ? {} : { output: result }), ...judged } } as const;
    }
    case "aggregation":
      return { phase, data: { status: failed ? "failed" : "success", ...said } } as const;
    case "verification":
      return { phase, data: { status: failed ? "failed" : "passed", ...said } } as const;
    default: {
      const problem = `This turn needs an answer of the phase "${phase}". Call submit_response with its data.`;
      throw new TuttiError("wrong_state", problem);
    }
  }
}
