// Answers control requests of Claude Code: permissions and questions. The run's permissions decide where they can; the
// rest goes to the user, and the program waits.
import { isInner, questionOf, toWish } from "./tool-wish.ts";
import { readQuestions, withAnswers, type Question } from "./questions.ts";
import { asObject, asText, type Message } from "./wire.ts";
import type { DialogueContext } from "../../dialogue.ts";
import { ruleOn, type PermissionRuling } from "../../permission.ts";

interface Waiting {
  requestId: string;
  toolUseId: string;
  input: Message;
  /** Empty for a permission. */
  questions: Question[];
  answers: string[];
}

export interface RequestsOptions {
  context: DialogueContext;
  /** The workspace with links resolved. */
  cwd: string;
  /** Called with the decision about a tool call. */
  decided(toolUseId: string, allowed: boolean): void;
}

const OPTIONS = ["allow", "refuse"];
const REFUSED_BY_RUN =
  "The permissions of this run do not allow this. Continue without it, or report what you could not do.";
const REFUSED_BY_USER = "The user refused this. Continue without it, or report what you could not do.";
const HOOK = "tutti-permissions";

export class Requests {
  readonly #options: RequestsOptions;
  /** By the id of the open question. */
  readonly #waiting = new Map<string, Waiting>();

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /** The program asks only where its own settings do not decide. A stricter run needs a hook before every tool. */
  hooks(): Message | null {
    const { mode, refuse } = this.#options.context.permissions;
    const strict = mode === "ask" || mode === "listed" || refuse.length > 0;
    return strict ? { PreToolUse: [{ hookCallbackIds: [HOOK] }] } : null;
  }

  handle(requestId: string, request: Message): void {
    switch (request["subtype"]) {
      case "can_use_tool":
        this.#permission(requestId, request);
        return;
      case "hook_callback":
        this.#beforeTool(requestId, asObject(request["input"]));
        return;
      default:
        // An unknown request needs an answer too, or the program would wait forever.
        this.#respond({ subtype: "error", request_id: requestId, error: "not supported" });
    }
  }

  #permission(requestId: string, request: Message): void {
    const { context, cwd } = this.#options;
    const tool = asText(request["tool_name"]);
    const waiting = {
      requestId,
      toolUseId: asText(request["tool_use_id"]),
      input: asObject(request["input"]),
      questions: tool === "AskUserQuestion" ? readQuestions(asObject(request["input"])) : [],
      answers: [],
    };
    const wish = toWish(tool, waiting.input, cwd);
    const ruling = ruleOn(wish, context.permissions, cwd);
    if (waiting.questions.length > 0 && !this.#isForbidden(tool, waiting.input)) this.#ask(waiting);
    else if (ruling === "refuse") this.#refuse(waiting, REFUSED_BY_RUN);
    else if (ruling === "allow") this.#allow(waiting, waiting.input);
    else {
      this.#waiting.set(requestId, waiting);
      const permission = { tool, subject: wish.subject };
      context.tell({ type: "ask", id: requestId, question: questionOf(wish), options: OPTIONS, permission });
    }
  }

  /** Decides only where the run's permissions require it. Otherwise the program continues with its own rules. */
  #beforeTool(requestId: string, input: Message): void {
    const tool = asText(input["tool_name"]);
    const ruling = this.#rulingBefore(tool, asObject(input["tool_input"]));
    const output = {
      hookEventName: "PreToolUse",
      permissionDecision: ruling === "refuse" ? "deny" : "ask",
      permissionDecisionReason:
        ruling === "refuse" ? REFUSED_BY_RUN : "The permissions of this run require the user's decision.",
    };
    if (ruling === "refuse") this.#options.decided(asText(input["tool_use_id"]), false);
    this.#succeed(requestId, ruling === "allow" ? {} : { hookSpecificOutput: output });
  }

  #rulingBefore(tool: string, input: Message): PermissionRuling {
    const { context, cwd } = this.#options;
    if (this.#isForbidden(tool, input)) return "refuse";
    const wish = toWish(tool, input, cwd);
    if (wish.kind === "read" || isInner(tool)) return "allow";
    const ruling = ruleOn(wish, context.permissions, cwd);
    return ruling === "ask" && context.permissions.mode !== "ask" ? "allow" : ruling;
  }

  /** Whether a `refuse` pattern matches. It applies to questions and the agent's notes too. */
  #isForbidden(tool: string, input: Message): boolean {
    const { context, cwd } = this.#options;
    const { refuse } = context.permissions;
    return ruleOn(toWish(tool, input, cwd), { mode: "all", allow: [], refuse }, cwd) === "refuse";
  }

  #ask(waiting: Waiting): void {
    const next = waiting.answers.length;
    const { text, options } = waiting.questions[next]!;
    const id = next === 0 ? waiting.requestId : `${waiting.requestId}.${next + 1}`;
    this.#waiting.set(id, waiting);
    this.#options.context.tell({ type: "ask", id, question: text, ...(options.length > 0 ? { options } : {}) });
  }

  answer(askId: string, text: string): void {
    const waiting = this.#waiting.get(askId);
    if (!waiting) return;
    this.#waiting.delete(askId);
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

  /** The program has withdrawn the request. */
  cancel(requestId: string): void {
    for (const [id, waiting] of this.#waiting) if (waiting.requestId === requestId) this.#drop(id);
  }

  /** Called when the process has ended. */
  cancelAll(): void {
    for (const id of this.#waiting.keys()) this.#drop(id);
  }

  #drop(id: string): void {
    this.#waiting.delete(id);
    this.#options.context.tell({ type: "ask_cancelled", id });
  }

  #allow({ requestId, toolUseId }: Waiting, updatedInput: Message): void {
    this.#options.decided(toolUseId, true);
    this.#succeed(requestId, { behavior: "allow", updatedInput });
  }

  #refuse({ requestId, toolUseId }: Waiting, message: string): void {
    this.#options.decided(toolUseId, false);
    this.#succeed(requestId, { behavior: "deny", message });
  }

  #succeed(requestId: string, response: Message): void {
    this.#respond({ subtype: "success", request_id: requestId, response });
  }

  #respond(response: Message): void {
    this.#options.context.write(`${JSON.stringify({ type: "control_response", response })}\n`);
  }
}
