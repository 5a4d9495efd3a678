// Claude Code's own protocol: JSON lines both ways, with control requests in between. What it says is told in our lines.
//
// Invariants
// 1. Only whole messages of the main agent's own model are told as its words: no subagent, no replay of what we said, no
//    result of a tool, and no error that stands in the place of an answer.
// 2. A turn is over when the program says that it rests, after a result. One turn may have several results; the last one
//    says how it ended.
// 3. What belongs to no open turn is not told, except what it cost.
// 4. Messages and members that are not known mean nothing.
import { realpathSync } from "node:fs";
import { resumeCommand, uuidOf } from "./command.ts";
import { causeOf, failureOf } from "./failure.ts";
import { Requests } from "./requests.ts";
import { OpenTurn } from "./turn.ts";
import { UsageMeter } from "./usage.ts";
import { asList, asNumber, asObject, asText, asTexts, readMessage, type Message } from "./wire.ts";
import type { AgentLine, Dialogue, DialogueContext, DialogueTurn, OpenDialogue, TurnFailure } from "../../dialogue.ts";

/** How long the program may take until it answers for the first time, on a machine that has much to do. */
const START_MS = 120_000;
/** Of a version that does not say when it rests: how long it must be silent after its result. */
const SILENCE_MS = 1500;
/** The program may wait this long by itself before it tries again; a longer wait is for the run to plan. */
const LONGEST_RETRY_MS = 30_000;
/** Keys that nobody renews while the program runs, so that the first refusal is the last word. */
const FIXED_KEYS = new Set(["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"]);
const CUT_OFF =
  "You were cut off in the middle of this turn, because your program ended. What you have done so far is in the " +
  "working folder: look at it first, then go on. This is what you were asked:\n\n";

export const openClaudeDialogue: OpenDialogue = (context) => new ClaudeDialogue(context);

class ClaudeDialogue implements Dialogue {
  readonly #context: DialogueContext;
  readonly #conversation: string;
  readonly #requests: Requests;
  readonly #meter = new UsageMeter();
  #turn: OpenTurn | null = null;
  #asked = 0;
  // What follows is about the process that runs now.
  #launch = 0;
  #ready = false;
  #tellsRest = false;
  #keyIsFixed = false;
  #subagents = new Set<string>();
  #tasks = 0;
  #startTimer: NodeJS.Timeout | undefined;
  #silenceTimer: NodeJS.Timeout | undefined;
  #shown = "";

  constructor(context: DialogueContext) {
    this.#context = context;
    this.#conversation = uuidOf(context.sessionId);
    this.#requests = new Requests({
      context,
      cwd: realPath(context.cwd),
      decided: (id, allowed) => (allowed ? this.#turn?.run(id) : this.#turn?.refuse(id)),
    });
  }

  open(): void {
    this.#launch += 1;
    this.#reset();
    const hooks = this.#requests.hooks();
    this.#request("initialize", hooks === null ? {} : { hooks });
    const why = `claude gave no answer within ${START_MS / 1000} s`;
    this.#startTimer = setTimeout(() => this.#giveUp(why), START_MS);
  }

  /** A session that was there before has not failed to start: only its turn has failed. */
  #giveUp(why: string): void {
    if (this.#launch === 1) this.#context.fail(why);
    else this.#context.tell({ type: "turn_end", error: why });
  }

  #reset(): void {
    clearTimeout(this.#startTimer);
    clearTimeout(this.#silenceTimer);
    this.#ready = false;
    this.#tellsRest = false;
    this.#tasks = 0;
    this.#requests.cancelAll();
    for (const id of this.#subagents) this.#context.tell({ type: "subagent", id, phase: "done" });
    this.#subagents.clear();
  }

  turn({ number, text }: DialogueTurn): void {
    const again = this.#turn?.number === number;
    const uuid = uuidOf(`${this.#context.sessionId} ${number} ${this.#launch}`);
    this.#turn = new OpenTurn(number, uuid, (line) => this.#context.tell(line));
    const content = [{ type: "text", text: again ? `${CUT_OFF}${text}` : asPrompt(text) }];
    this.#write({ type: "user", uuid, message: { role: "user", content }, parent_tool_use_id: null });
  }

  answer(askId: string, text: string): void {
    this.#requests.answer(askId, text);
  }

  interrupt(): void {
    if (this.#turn) this.#turn.interrupted = true;
    this.#request("interrupt", { cancel_queued: true });
  }

  exited({ code, signal, errors }: { code: number | null; signal: string | null; errors: string }): void {
    const wasReady = this.#ready;
    this.#reset();
    this.#settle();
    if (wasReady || this.#launch > 1) return;
    const last = errors.trim().split("\n").at(-1)!;
    const how = signal ? `was ended by ${signal}` : `exited with ${code}`;
    this.#context.fail(`claude ${how} at its start${last === "" ? "" : `: ${last}`}`);
  }

  relaunch(): string[] | null {
    this.#settle();
    const turn = this.#turn;
    if (!turn || !turn.begun || turn.interrupted || turn.brokenOff) return null;
    return resumeCommand(this.#context.command);
  }

  hear(line: string): void {
    const message = readMessage(line);
    if (!message) return;
    this.#read(message);
    clearTimeout(this.#silenceTimer);
    if (this.#tellsRest || !this.#turn?.result || this.#tasks > 0) return;
    this.#silenceTimer = setTimeout(() => this.#settle(), SILENCE_MS);
  }

  #read(message: Message): void {
    switch (message["type"]) {
      case "control_response":
        this.#readResponse(asObject(message["response"]));
        return;
      case "control_request":
        this.#requests.handle(asText(message["request_id"]), asObject(message["request"]));
        return;
      case "control_cancel_request":
        this.#requests.cancel(asText(message["request_id"]));
        return;
      case "system":
        this.#readSystem(message);
        return;
      case "result":
        this.#readResult(message);
        return;
      default:
        this.#turn?.read(message);
    }
  }

  #readResponse({ request_id: id, subtype, error, response }: Message): void {
    const [kind, launch] = asText(id).split(" ");
    if (launch !== String(this.#launch)) return;
    if (kind === "tutti-interrupt") {
      // The prompt was still in a queue and is out of it: no result will come.
      const gone = asTexts(asObject(response)["cancelled"]).includes(this.#turn?.uuid ?? "");
      if (gone) this.#turn!.result ??= { failure: { error: "the turn was interrupted" } };
      if (gone) this.#settle();
      return;
    }
    if (kind !== "tutti-initialize" || this.#ready) return;
    clearTimeout(this.#startTimer);
    if (subtype !== "success") {
      this.#context.fail(`claude did not accept to be driven: ${asText(error)}`);
      return;
    }
    this.#ready = true;
    this.#readStart(asObject(response));
    this.#context.ready();
  }

  #readStart(start: Message): void {
    const { tokenSource, apiKeySource } = asObject(start["account"]);
    this.#keyIsFixed = FIXED_KEYS.has(asText(apiKeySource)) || FIXED_KEYS.has(asText(tokenSource));
    this.#tellsRest = start["session_state"] !== undefined;
    this.#show(asText(start["claude_code_version"]), asList(start["agents"]).length > 0);
  }

  /** Told once, and again if the program says otherwise later. Very old ones tell their version with the first turn. */
  #show(version: string, subagents: boolean): void {
    if (version === "") return;
    const line: AgentLine = {
      type: "ready",
      agent: "claude",
      version,
      conversation: this.#conversation,
      capabilities: { partialText: true, interrupt: true, resume: true, permissions: true, cost: "usd", subagents },
    };
    const shown = JSON.stringify(line);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#context.tell(line);
  }

  #readSystem(message: Message): void {
    const id = asText(message["task_id"]);
    switch (message["subtype"]) {
      case "init":
        this.#show(
          asText(message["claude_code_version"]),
          asTexts(message["tools"]).some((tool) => tool === "Task" || tool === "Agent"),
        );
        return;
      case "session_state_changed":
        this.#tellsRest = true;
        if (message["state"] === "idle") this.#settle();
        return;
      case "api_retry":
        this.#readRetry(message);
        return;
      case "permission_denied":
        this.#turn?.refuse(asText(message["tool_use_id"]), asText(message["tool_name"]));
        return;
      case "background_tasks_changed":
        this.#tasks = asList(message["tasks"]).length;
        return;
      case "task_started":
        this.#turn?.run(asText(message["tool_use_id"]));
        if (message["subagent_type"] === undefined) return;
        this.#subagents.add(id);
        this.#context.tell({ type: "subagent", id, phase: "started", text: asText(message["description"]) });
        return;
      case "task_notification":
        if (!this.#subagents.delete(id)) return;
        this.#context.tell({ type: "subagent", id, phase: "done", text: asText(message["summary"]) });
    }
  }

  #readRetry(retry: Message): void {
    const turn = this.#turn;
    const status = asNumber(retry["error_status"]);
    const word = asText(retry["error"]);
    const cause = causeOf(status, word);
    const retryAfterMs = asNumber(retry["retry_delay_ms"]);
    const detail = `the provider answered ${status ?? "nothing"} (${word})`;
    if (turn && cause === "rate_limit") turn.troubles.retryAfterMs = retryAfterMs;
    // A login is renewed after the first refusal; a second one means that this did not help.
    const hopeless =
      (cause === "auth" || cause === "billing") && (this.#keyIsFixed || asNumber(retry["attempt"]) !== 1);
    const failure: TurnFailure = { error: detail, cause, ...(retryAfterMs === null ? {} : { retryAfterMs }) };
    if (turn && hopeless) this.#breakOff(turn, { error: detail, cause });
    else if (turn && retryAfterMs !== null && retryAfterMs > LONGEST_RETRY_MS) this.#breakOff(turn, failure);
    else
      this.#context.tell({
        type: "provider_trouble",
        cause,
        detail,
        ...(retryAfterMs === null ? {} : { retryAfterMs }),
      });
  }

  #breakOff(turn: OpenTurn, failure: TurnFailure): void {
    if (turn.brokenOff) return;
    turn.brokenOff = failure;
    this.#request("interrupt", { cancel_queued: true });
  }

  #readResult(result: Message): void {
    const spent = this.#meter.read(result);
    if (spent) this.#context.tell({ type: "usage", ...spent });
    const turn = this.#turn;
    // Work of an earlier turn may still have come to its end before this one was taken up.
    const answers = asTexts(result["user_message_uuids"]);
    if (!turn || (!turn.begun && answers.length > 0 && !answers.includes(turn.uuid))) return;
    for (const denied of asList(result["permission_denials"]))
      turn.refuse(asText(denied["tool_use_id"]), asText(denied["tool_name"]));
    turn.result = { failure: failureOf(result, turn.troubles, Date.now()) };
  }

  /** Ends the turn, if it has a result. */
  #settle(): void {
    const turn = this.#turn;
    if (!turn?.result) return;
    clearTimeout(this.#silenceTimer);
    this.#turn = null;
    const failure = turn.brokenOff ?? turn.result.failure ?? turn.denial();
    this.#context.tell({ type: "turn_end", ...failure });
  }

  #request(subtype: string, more: Message = {}): void {
    this.#asked += 1;
    const id = `tutti-${subtype} ${this.#launch} ${this.#asked}`;
    this.#write({ type: "control_request", request_id: id, request: { subtype, ...more } });
  }

  #write(message: Message): void {
    this.#context.write(`${JSON.stringify(message)}\n`);
  }
}

/** A prompt that begins with a slash would be a command to the program itself. */
const asPrompt = (text: string): string => (text.startsWith("/") ? `The request:\n${text}` : text);

/** How the program names the folder it works in. */
function realPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
