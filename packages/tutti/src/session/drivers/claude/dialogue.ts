// `ClaudeDialogue` exchanges JSON lines with Claude Code in both directions, with control requests in between.
//
// Invariants
// 1. Only whole messages of the main agent's model become assistant text: no text of subagents, no replayed prompt, no
//    tool result, and no error in place of an answer.
// 2. A turn ends when the program reports that it is idle after a result. Of several results the last one decides.
// 3. Outside an open turn only usage is passed on.
// 4. Unknown messages and members are ignored.
import { beginCommand, resumeCommand, uuidOf } from "./command.ts";
import { causeOf, failureOf } from "./failure.ts";
import { Requests } from "./requests.ts";
import { ClaudeTurn } from "./turn.ts";
import { ClaudeUsageMeter, contextOf } from "./usage.ts";
import { listOf, numberOf, recordOf, textOf, textsOf, parseRecord, type Fields } from "../../json-fields.ts";
import type {
  AgentLine,
  Dialogue,
  DialogueContext,
  DialogueTurn,
  DialogueFailure,
  OpenDialogue,
  ProcessExit,
} from "../../dialogue.ts";
import { exitProblem, LONGEST_RETRY_MS, repeatedPrompt } from "../dialogue-parts.ts";
import { realPath } from "../../permission.ts";
import type { SubagentEnd } from "../../../schema/status.ts";

/** `START_MS` until the first answer is long, because the machine may be overloaded. */
const START_MS = 120_000;
/** A version that does not report `idle` is idle after `SILENCE_MS` without output after its result. */
const SILENCE_MS = 1500;
/** `FIXED_KEYS` are not renewed while the program runs, so the first rejection is final. */
const FIXED_KEYS = new Set(["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"]);

export const openClaudeDialogue: OpenDialogue = (context) => new ClaudeDialogue(context);

class ClaudeDialogue implements Dialogue {
  readonly #context: DialogueContext;
  /** `#command` begins `#conversation`. */
  #command: string[];
  #conversation: string;
  /** The program stores a conversation with its first answer. Unless `#isStored`, it cannot be resumed. */
  #isStored = false;
  readonly #requests: Requests;
  readonly #meter: ClaudeUsageMeter;
  #turn: ClaudeTurn | null = null;
  #requestCount = 0;
  // The following fields belong to the current process.
  #launch = 0;
  #ready = false;
  #reportsIdle = false;
  #keyIsFixed = false;
  #subagents = new Set<string>();
  /** The level of each sub-agent so far; 1 for one of the main agent. */
  readonly #levels = new Map<string, number>();
  /** Ids of commands and subagents in the background. */
  #tasks: string[] = [];
  #startTimer: NodeJS.Timeout | undefined;
  #silenceTimer: NodeJS.Timeout | undefined;
  #announced = "";
  /** Messages that the program has queued, by their uuid. */
  readonly #queued = new Map<string, { id: string; text: string }>();

  constructor(context: DialogueContext) {
    this.#context = context;
    this.#command = [...context.command];
    this.#conversation = uuidOf(context.sessionId);
    this.#meter = new ClaudeUsageMeter(context.resumed?.used);
    this.#requests = new Requests({
      context,
      // The program reports paths with links resolved.
      cwd: realPath(context.cwd),
      levelOf: (id) => this.#levels.get(id) ?? (id === "" ? 0 : 1),
      decided: (id, allowed) => (allowed ? this.#turn?.run(id) : this.#turn?.refuse(id)),
    });
  }

  open(): void {
    this.#launch += 1;
    this.#reset();
    const hooks = this.#requests.hooks();
    this.#request("initialize", hooks === null ? {} : { hooks });
    const why = `claude gave no answer within ${START_MS / 1000} s`;
    this.#startTimer = setTimeout(() => this.#context.fail(why), START_MS);
  }

  #reset(): void {
    clearTimeout(this.#startTimer);
    clearTimeout(this.#silenceTimer);
    this.#ready = false;
    this.#reportsIdle = false;
    this.#tasks = [];
    this.#requests.cancelAll();
    this.#queued.clear();
    const end = { phase: "done", status: "failed", text: "the process of its agent ended" } as const;
    for (const id of this.#subagents) this.#context.emit({ type: "subagent", id, ...end });
    this.#subagents.clear();
  }

  turn({ number, text }: DialogueTurn): void {
    const again = this.#turn?.number === number;
    const uuid = uuidOf(`${this.#context.sessionId} ${number} ${this.#launch}`);
    this.#turn = new ClaudeTurn(number, uuid, (line) => this.#context.emit(line));
    const content = [{ type: "text", text: again ? repeatedPrompt(text) : asPrompt(text) }];
    this.#write({ type: "user", uuid, message: { role: "user", content }, parent_tool_use_id: null });
  }

  answer(askId: string, text: string): void {
    this.#requests.answer(askId, text);
  }

  /** The program queues the message and passes it to the model after the current step. Then it replays it. */
  steer(id: string, text: string): void {
    if (!this.#turn || this.#turn.interrupted) return;
    const uuid = uuidOf(`${this.#context.sessionId} message ${id} ${this.#launch}`);
    this.#queued.set(uuid, { id, text });
    const content = [{ type: "text", text: asPrompt(text) }];
    this.#write({ type: "user", uuid, message: { role: "user", content }, parent_tool_use_id: null, priority: "next" });
  }

  #readReplay(message: Fields): void {
    const queued = message["isReplay"] === true ? this.#queued.get(textOf(message["uuid"])) : undefined;
    if (!queued) return;
    this.#queued.delete(textOf(message["uuid"]));
    this.#context.emit({ type: "steered", ...queued });
  }

  interrupt(): void {
    if (this.#turn) this.#turn.interrupted = true;
    // The program spares commands in the background. Ended by a signal, they would make it start a turn of its own.
    for (const id of this.#tasks) this.#request("stop_task", { task_id: id });
    this.#request("interrupt", { cancel_queued: true });
  }

  exited(exit: ProcessExit): void {
    const wasReady = this.#ready;
    this.#reset();
    this.#settle();
    if (!wasReady) this.#context.fail(exitProblem("claude", exit, "at its start"));
  }

  relaunch(): string[] | null {
    this.#settle();
    const turn = this.#turn;
    if (!turn || turn.interrupted || turn.brokenOff) return null;
    if (!this.#isStored) {
      // Only the first turn needs no history.
      if (turn.number > 1) return null;
      // A new id, because the program rejects the old one if it did store the conversation.
      this.#conversation = uuidOf(`${this.#context.sessionId} ${this.#launch}`);
      this.#command = beginCommand(this.#command, this.#conversation);
      return this.#command;
    }
    return resumeCommand(this.#command);
  }

  receive(line: string): void {
    const message = parseRecord(line);
    if (typeof message["type"] !== "string") return;
    this.#read(message);
    clearTimeout(this.#silenceTimer);
    if (this.#reportsIdle || !this.#turn?.result || this.#tasks.length > 0) return;
    this.#silenceTimer = setTimeout(() => this.#settle(), SILENCE_MS);
  }

  #read(message: Fields): void {
    switch (message["type"]) {
      case "control_response":
        return this.#readResponse(recordOf(message["response"]));
      case "control_request":
        return this.#requests.handle(textOf(message["request_id"]), recordOf(message["request"]));
      case "control_cancel_request":
        return this.#requests.cancel(textOf(message["request_id"]));
      case "system":
        return this.#readSystem(message);
      case "result":
        return this.#readResult(message);
      default:
        this.#readReplay(message);
        this.#turn?.read(message);
        this.#isStored ||= this.#turn?.begun === true;
    }
  }

  #readResponse({ request_id: id, subtype, error, response }: Fields): void {
    const [kind, launch] = textOf(id).split(" ");
    if (launch !== String(this.#launch)) return;
    if (kind === "tutti-interrupt") {
      // A prompt that was removed from the program's queue gets no result.
      const wasQueued = textsOf(recordOf(response)["cancelled"]).includes(this.#turn?.uuid ?? "");
      if (wasQueued) this.#turn!.result ??= { failure: { error: "the turn was interrupted" } };
      if (wasQueued) this.#settle();
      return;
    }
    if (kind !== "tutti-initialize" || this.#ready) return;
    clearTimeout(this.#startTimer);
    if (subtype !== "success") {
      this.#context.fail(`claude rejected the request "initialize": ${textOf(error)}`);
      return;
    }
    this.#ready = true;
    this.#readStart(recordOf(response));
    this.#context.ready();
  }

  #readStart(start: Fields): void {
    const { tokenSource, apiKeySource } = recordOf(start["account"]);
    this.#keyIsFixed = FIXED_KEYS.has(textOf(apiKeySource)) || FIXED_KEYS.has(textOf(tokenSource));
    this.#reportsIdle = start["session_state"] !== undefined;
    this.#announce(textOf(start["claude_code_version"]), listOf(start["agents"]).length > 0);
  }

  /** Repeats `ready` only if it changed. Very old versions report their version with the first turn. */
  #announce(version: string, subagents: boolean): void {
    if (version === "") return;
    const line: AgentLine = {
      type: "ready",
      agent: "claude",
      version,
      conversation: this.#conversation,
      capabilities: {
        partialText: true,
        interrupt: true,
        resume: true,
        permissions: true,
        cost: "usd",
        subagents,
        steer: true,
      },
    };
    const announced = JSON.stringify(line);
    if (announced === this.#announced) return;
    this.#announced = announced;
    this.#context.emit(line);
  }

  #readSystem(message: Fields): void {
    const id = textOf(message["task_id"]);
    switch (message["subtype"]) {
      case "init":
        this.#announce(
          textOf(message["claude_code_version"]),
          textsOf(message["tools"]).some((tool) => tool === "Task" || tool === "Agent"),
        );
        return;
      case "session_state_changed":
        this.#reportsIdle = true;
        if (message["state"] === "idle") this.#settle();
        return;
      case "api_retry":
        return this.#readRetry(message);
      case "permission_denied":
        this.#turn?.refuse(textOf(message["tool_use_id"]), textOf(message["tool_name"]));
        return;
      case "background_tasks_changed":
        this.#tasks = listOf(message["tasks"]).map((task) => textOf(task["task_id"]));
        return;
      case "task_started": {
        const toolId = textOf(message["tool_use_id"]);
        const parent = textOf(message["parent_task_id"]);
        this.#turn?.run(toolId);
        if (message["subagent_type"] === undefined) return;
        this.#subagents.add(id);
        this.#levels.set(id, 1 + (this.#levels.get(parent) ?? 0));
        this.#context.emit({
          type: "subagent",
          id,
          phase: "started",
          text: textOf(message["description"]),
          ...(toolId === "" ? {} : { toolId }),
          ...(parent === "" ? {} : { parent }),
        });
        return;
      }
      case "task_notification":
        if (!this.#subagents.delete(id)) return;
        this.#context.emit({
          type: "subagent",
          id,
          phase: "done",
          text: textOf(message["summary"]),
          status: endOf(message["status"]),
        });
    }
  }

  #readRetry(retry: Fields): void {
    const turn = this.#turn;
    const status = numberOf(retry["error_status"]);
    const word = textOf(retry["error"]);
    const cause = causeOf(status, word);
    const retryAfterMs = numberOf(retry["retry_delay_ms"]);
    const detail = `the provider answered ${status ?? "nothing"} (${word})`;
    if (turn && cause === "rate_limit") turn.troubles.retryAfterMs = retryAfterMs;
    // The program renews a login after the first rejection. A second one means that the renewal did not help.
    const hopeless =
      (cause === "auth" || cause === "billing") && (this.#keyIsFixed || numberOf(retry["attempt"]) !== 1);
    const wait = retryAfterMs === null ? {} : { retryAfterMs };
    if (turn && hopeless) this.#breakOff(turn, { error: detail, cause });
    else if (turn && (retryAfterMs ?? 0) > LONGEST_RETRY_MS) this.#breakOff(turn, { error: detail, cause, ...wait });
    else this.#context.emit({ type: "provider_trouble", cause, detail, ...wait });
  }

  #breakOff(turn: ClaudeTurn, failure: DialogueFailure): void {
    if (turn.brokenOff) return;
    turn.brokenOff = failure;
    this.#request("interrupt", { cancel_queued: true });
  }

  #readResult(result: Fields): void {
    const spent = this.#meter.read(result);
    const turn = this.#turn;
    if (spent) this.#context.emit({ type: "usage", ...spent, ...contextOf(turn?.context ?? null, result) });
    // A resumed process that is not ready yet reports that it could not find the conversation.
    this.#isStored = this.#ready || this.#launch === 1;
    if (!this.#isStored) return;
    // The result may belong to work of an earlier turn that ended before this one began.
    const answers = textsOf(result["user_message_uuids"]);
    if (!turn || (!turn.begun && answers.length > 0 && !answers.includes(turn.uuid))) return;
    for (const denied of listOf(result["permission_denials"]))
      turn.refuse(textOf(denied["tool_use_id"]), textOf(denied["tool_name"]));
    turn.result = { failure: failureOf(result, turn.troubles, Date.now()) };
  }

  #settle(): void {
    const turn = this.#turn;
    if (!turn?.result) return;
    clearTimeout(this.#silenceTimer);
    this.#turn = null;
    const failure = turn.brokenOff ?? turn.result.failure ?? turn.denial();
    this.#context.emit({ type: "turn_end", ...failure });
  }

  #request(subtype: string, more: Fields = {}): void {
    this.#requestCount += 1;
    const id = `tutti-${subtype} ${this.#launch} ${this.#requestCount}`;
    this.#write({ type: "control_request", request_id: id, request: { subtype, ...more } });
  }

  #write(message: Fields): void {
    this.#context.write(`${JSON.stringify(message)}\n`);
  }
}

/** Reads any other value, such as `stopped`, as `cancelled`. */
const endOf = (status: unknown): SubagentEnd =>
  status === undefined || status === "completed" ? "completed" : status === "failed" ? "failed" : "cancelled";

/** The program would run a prompt with a leading slash as a command. */
const asPrompt = (text: string): string => (text.startsWith("/") ? `The request:\n${text}` : text);
