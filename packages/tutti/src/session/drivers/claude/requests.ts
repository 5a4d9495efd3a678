// `Requests` answers control requests of Claude Code: permissions and questions. The run's permissions decide where
// they can; the rest goes to the user, and the program waits.
import { isInner, toToolRequest } from "./tool-request.ts";
import { readQuestions, withAnswers, type Question } from "./questions.ts";
import { recordOf, textOf, type Fields } from "../../json-fields.ts";
import type { DialogueContext } from "../../dialogue.ts";
import { OpenQuestions } from "../dialogue-parts.ts";
import { decidePermission, permissionQuestion, type PermissionRuling, type ToolRequest } from "../../permission.ts";

interface Waiting {
  requestId: string;
  toolUseId: string;
  input: Fields;
  /** Empty for a permission. */
  questions: Question[];
  answers: string[];
}

interface RequestsOptions {
  context: DialogueContext;
  /** The workspace with links resolved. */
  cwd: string;
  /** Returns 0 for the main agent, which has no id, and 1 for its sub-agents. */
  levelOf(agentId: string): number;
  /** Called with the decision about a tool call. */
  decided(toolUseId: string, allowed: boolean): void;
}

const OPTIONS = ["allow", "refuse"];
const REFUSED_BY_RUN =
  "The permissions of this run do not allow this. Continue without it, or report what you could not do.";
const REFUSED_BY_USER = "The user refused this. Continue without it, or report what you could not do.";
const HOOK = "tutti-permissions";
const DEPTH_HOOK = "tutti-depth";
const STARTS_AN_AGENT = "Task|Agent";

const tooDeep = (depth: number): string =>
  `${depth === 0 ? "This run allows no sub-agents." : `This run allows sub-agents to nest ${depth} deep.`} Do this part yourself.`;

export class Requests {
  readonly #options: RequestsOptions;
  readonly #open: OpenQuestions<Waiting>;

  constructor(options: RequestsOptions) {
    this.#options = options;
    this.#open = new OpenQuestions((line) => options.context.emit(line));
  }

  /**
   * The program asks only where its own settings do not decide. A stricter run needs a hook before every tool, and one
   * with `subagentDepth` a hook before sub-agents start.
   */
  hooks(): Fields | null {
    const { permissions, subagentDepth } = this.#options.context;
    const { mode, refuse } = permissions;
    const strict = mode === "ask" || mode === "listed" || refuse.length > 0;
    const hooks = [
      ...(strict ? [{ hookCallbackIds: [HOOK] }] : []),
      ...(subagentDepth === undefined ? [] : [{ matcher: STARTS_AN_AGENT, hookCallbackIds: [DEPTH_HOOK] }]),
    ];
    return hooks.length > 0 ? { PreToolUse: hooks } : null;
  }

  handle(requestId: string, request: Fields): void {
    switch (request["subtype"]) {
      case "can_use_tool":
        return this.#permission(requestId, request);
      case "hook_callback": {
        const input = recordOf(request["input"]);
        return request["callback_id"] === DEPTH_HOOK
          ? this.#beforeSubagent(requestId, input)
          : this.#beforeTool(requestId, input);
      }
      default:
        // An unknown request needs an answer too, or the program would wait forever.
        this.#respond({ subtype: "error", request_id: requestId, error: "not supported" });
    }
  }

  #permission(requestId: string, request: Fields): void {
    const { context, cwd } = this.#options;
    const name = textOf(request["tool_name"]);
    const waiting = {
      requestId,
      toolUseId: textOf(request["tool_use_id"]),
      input: recordOf(request["input"]),
      questions: name === "AskUserQuestion" ? readQuestions(recordOf(request["input"])) : [],
      answers: [],
    };
    const tool = toToolRequest(name, waiting.input, cwd);
    const ruling = decidePermission(tool, context.permissions, cwd);
    if (waiting.questions.length > 0 && !this.#isForbidden(tool)) this.#ask(waiting);
    else if (ruling === "refuse") this.#refuse(waiting, REFUSED_BY_RUN);
    else if (ruling === "allow") this.#allow(waiting, waiting.input);
    else {
      const permission = { tool: name, subject: tool.subject };
      this.#open.ask({ id: requestId, question: permissionQuestion(tool), options: OPTIONS, permission }, waiting);
    }
  }

  /** Decides only where the run's permissions require it. Otherwise the program continues with its own rules. */
  #beforeTool(requestId: string, input: Fields): void {
    const ruling = this.#rulingBefore(textOf(input["tool_name"]), recordOf(input["tool_input"]));
    if (ruling === "refuse") return this.#deny(requestId, input, REFUSED_BY_RUN);
    const output = {
      hookEventName: "PreToolUse",
      permissionDecision: "ask",
      permissionDecisionReason: "The permissions of this run require the user's decision.",
    };
    this.#succeed(requestId, ruling === "allow" ? {} : { hookSpecificOutput: output });
  }

  #beforeSubagent(requestId: string, input: Fields): void {
    const depth = this.#options.context.subagentDepth ?? Number.POSITIVE_INFINITY;
    if (this.#options.levelOf(textOf(input["agent_id"])) < depth) return this.#succeed(requestId, {});
    this.#deny(requestId, input, tooDeep(depth));
  }

  #deny(requestId: string, input: Fields, reason: string): void {
    this.#options.decided(textOf(input["tool_use_id"]), false);
    const output = { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: reason };
    this.#succeed(requestId, { hookSpecificOutput: output });
  }

  #rulingBefore(name: string, input: Fields): PermissionRuling {
    const { context, cwd } = this.#options;
    const tool = toToolRequest(name, input, cwd);
    if (this.#isForbidden(tool)) return "refuse";
    if (tool.kind === "read" || isInner(name)) return "allow";
    const ruling = decidePermission(tool, context.permissions, cwd);
    return ruling === "ask" && context.permissions.mode !== "ask" ? "allow" : ruling;
  }

  /** Whether a `refuse` pattern matches. It applies to questions and the agent's notes too. */
  #isForbidden(tool: ToolRequest): boolean {
    const { context, cwd } = this.#options;
    const { refuse } = context.permissions;
    return decidePermission(tool, { mode: "all", allow: [], refuse }, cwd) === "refuse";
  }

  #ask(waiting: Waiting): void {
    const next = waiting.answers.length;
    const { text, options } = waiting.questions[next]!;
    const id = next === 0 ? waiting.requestId : `${waiting.requestId}.${next + 1}`;
    this.#open.ask({ id, question: text, ...(options.length > 0 ? { options } : {}) }, waiting);
  }

  answer(askId: string, text: string): void {
    const waiting = this.#open.take(askId);
    if (!waiting) return;
    if (waiting.questions.length === 0) {
      const reply = text.trim();
      if (reply === "allow") this.#allow(waiting, waiting.input);
      else this.#refuse(waiting, reply === "" || reply === "refuse" ? REFUSED_BY_USER : reply);
      return;
    }
    waiting.answers.push(text);
    if (waiting.answers.length < waiting.questions.length) this.#ask(waiting);
    else this.#allow(waiting, withAnswers(waiting.input, waiting.answers));
  }

  /** Called when the program has withdrawn the request. */
  cancel(requestId: string): void {
    this.#open.withdraw((waiting) => waiting.requestId === requestId);
  }

  cancelAll(): void {
    this.#open.withdraw();
  }

  #allow({ requestId, toolUseId }: Waiting, updatedInput: Fields): void {
    this.#options.decided(toolUseId, true);
    this.#succeed(requestId, { behavior: "allow", updatedInput });
  }

  #refuse({ requestId, toolUseId }: Waiting, message: string): void {
    this.#options.decided(toolUseId, false);
    this.#succeed(requestId, { behavior: "deny", message });
  }

  #succeed(requestId: string, response: Fields): void {
    this.#respond({ subtype: "success", request_id: requestId, response });
  }

  #respond(response: Fields): void {
    this.#options.context.write(`${JSON.stringify({ type: "control_response", response })}\n`);
  }
}
