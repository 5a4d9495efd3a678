// The dialogue for the Codex app server: one process, one thread, one turn at a time.
//
// Invariants
// 1. Only items of the open turn of `#threadId` are passed on, so that history and what sub-agents say are never taken for
//    new output. Of sub-agents, only their tools and their end are. Approval requests are handled for every thread.
// 2. The dialogue never starts a login.
import { Approvals } from "./approvals.ts";
import { turnSandbox } from "./command.ts";
import { failureOf, limitResetOf } from "./failure.ts";
import { openThread } from "./open-thread.ts";
import { Peer } from "./peer.ts";
import { CodexSubagents } from "./subagents.ts";
import { CodexTurnReader } from "./turn-reader.ts";
import { CodexUsageMeter, contextOf } from "./usage.ts";
import { recordOf, textOrNull, type Fields } from "../../json-fields.ts";
import { classifyFailure } from "../../classify-failure.ts";
import type {
  Capabilities,
  Dialogue,
  DialogueContext,
  DialogueTurn,
  DialogueFailure,
  OpenDialogue,
  ProcessExit,
} from "../../dialogue.ts";
import { exitProblem, LONGEST_RETRY_MS, repeatedPrompt } from "../dialogue-parts.ts";

interface OpenTurn {
  /** Null until Codex has confirmed the turn. */
  id: string | null;
  reader: CodexTurnReader;
  interrupted: boolean;
  /** Messages to send once Codex has confirmed the turn. */
  early: [id: string, text: string][];
  /** The reason for which the dialogue interrupted the turn. */
  givenUp: DialogueFailure | null;
}

const ABILITIES: Capabilities = {
  partialText: true,
  interrupt: true,
  resume: true,
  permissions: true,
  cost: "tokens",
  subagents: true,
  steer: true,
};

class CodexDialogue implements Dialogue {
  readonly #context: DialogueContext;
  readonly #usage: CodexUsageMeter;
  readonly #subagents: CodexSubagents;
  #peer: Peer;
  #approvals: Approvals;
  #stopWaiting: () => void = () => {};
  #threadId: string | null;
  #home = "";
  #ready = false;
  #number = 0;
  #turn: OpenTurn | null = null;
  #cutOff = false;
  #limitResetAt: number | null = null;

  constructor(context: DialogueContext) {
    this.#context = context;
    this.#threadId = context.resumed?.conversation ?? null;
    this.#usage = new CodexUsageMeter(context.resumed?.used);
    this.#subagents = new CodexSubagents((line) => context.emit(line));
    [this.#peer, this.#approvals] = this.#connect();
  }

  #connect(): [Peer, Approvals] {
    const peer: Peer = new Peer({
      write: (text) => this.#context.write(text),
      onNotification: (method, params) => this.#readNotification(method, params),
      onRequest: (id, method, params) => {
        if (!approvals.handle(id, method, params)) peer.refuse(id, method);
      },
    });
    const approvals = new Approvals({
      context: this.#context,
      peer,
      itemOf: (id) => this.#readerOf(id)?.itemOf(id) ?? {},
      decided: (id, allowed) => this.#readerOf(id)?.decided(id, allowed),
    });
    return [peer, approvals];
  }

  #readerOf(itemId: string): CodexTurnReader | null {
    return this.#subagents.readerOf(itemId) ?? this.#turn?.reader ?? null;
  }

  open(): void {
    [this.#peer, this.#approvals] = this.#connect();
    this.#stopWaiting = openThread({
      peer: this.#peer,
      context: this.#context,
      threadId: this.#threadId,
      onLost: (reason) => this.#lose(reason),
      onOpen: ({ id, program: { version, home } }) => {
        this.#home = home;
        if (id !== this.#threadId) this.#usage.begin();
        this.#threadId = id;
        this.#ready = true;
        this.#context.emit({ type: "ready", agent: "codex", version, conversation: id, capabilities: ABILITIES });
        this.#context.ready();
      },
    });
  }

  /** Ends the open turn, because the history before it is lost. The first turn needs none and is sent again. */
  #lose(reason: string): void {
    if (this.#number <= 1) return;
    const problem = "the agent died in the middle of its turn, and its conversation could not be resumed";
    this.#context.emit({ type: "turn_end", error: `${problem}: ${reason}`, cause: "died" });
  }

  receive(line: string): void {
    this.#peer.receive(line);
  }

  #readNotification(method: string, params: Fields): void {
    switch (method) {
      case "serverRequest/resolved":
        return this.#approvals.withdraw(params["requestId"]);
      case "account/rateLimits/updated":
        this.#limitResetAt = limitResetOf(recordOf(params["rateLimits"])) ?? this.#limitResetAt;
        return;
    }
    const isMain = params["threadId"] === this.#threadId;
    if (isMain) this.#readMain(method, params);
    this.#subagents.read(method, params, isMain);
  }

  #readMain(method: string, params: Fields): void {
    if (method !== "thread/tokenUsage/updated") return this.#readTurn(method, params);
    const usage = recordOf(params["tokenUsage"]);
    const used = this.#usage.read(recordOf(usage["total"]));
    if (used) this.#context.emit({ type: "usage", ...used, ...contextOf(usage) });
  }

  #readTurn(method: string, params: Fields): void {
    const turn = this.#turn;
    if (!turn) return;
    const turnFields = recordOf(params["turn"]);
    const turnId = textOrNull(params["turnId"]) ?? textOrNull(turnFields["id"]);
    if (method === "turn/started") this.#nameTurn(turn, turnId);
    if (turnId === null || turnId !== turn.id) return;
    if (method === "turn/completed") this.#completeTurn(turn, turnFields);
    else if (method === "error") this.#readError(turn, params);
    else turn.reader.read(method, params);
  }

  #nameTurn(turn: OpenTurn, id: string | null): void {
    if (turn.id !== null || id === null) return;
    turn.id = id;
    if (turn.interrupted) this.#requestInterrupt(id);
    else for (const [messageId, text] of turn.early.splice(0)) this.steer(messageId, text);
  }

  /** An error without `willRetry` is repeated in `turn/completed`. */
  #readError(turn: OpenTurn, params: Fields): void {
    const error = recordOf(params["error"]);
    turn.reader.lastError = error;
    if (params["willRetry"] !== true) return;
    const failure = failureOf(error, this.#limitResetAt, Date.now());
    const { error: detail, cause, retryAfterMs } = failure;
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
    this.#context.emit({ type: "provider_trouble", cause: cause ?? "api", detail, ...wait });
    if (retryAfterMs === undefined || retryAfterMs <= LONGEST_RETRY_MS) return;
    turn.givenUp = failure;
    this.interrupt();
  }

  turn({ number, text }: DialogueTurn): void {
    const turn: OpenTurn = {
      id: null,
      reader: new CodexTurnReader((line) => this.#context.emit(line)),
      interrupted: false,
      early: [],
      givenUp: null,
    };
    this.#turn = turn;
    this.#number = number;
    const input = [{ type: "text", text: this.#cutOff ? repeatedPrompt(text) : text, text_elements: [] }];
    this.#cutOff = false;
    const params = { threadId: this.#threadId, input, sandboxPolicy: turnSandbox(this.#home) };
    this.#peer.request("turn/start", params, ({ result, error }) => {
      if (this.#turn !== turn) return;
      if (error === null) this.#nameTurn(turn, textOrNull(recordOf(result["turn"])["id"]));
      else this.#endTurn({ error, cause: "protocol", ...classifyFailure(error) });
    });
  }

  #completeTurn({ reader, givenUp }: OpenTurn, { status, error }: Fields): void {
    switch (status) {
      case "completed":
        return this.#endTurn(reader.denial() ?? {});
      case "interrupted":
        return this.#endTurn(givenUp ?? { error: "the turn was interrupted" });
      case "failed": {
        const reported = Object.keys(recordOf(error)).length > 0 ? recordOf(error) : reader.lastError;
        return this.#endTurn(failureOf(reported, this.#limitResetAt, Date.now()));
      }
      default: {
        const shown = typeof status === "string" ? status.slice(0, 100) : "none given";
        this.#endTurn({ error: `the agent ended its turn with an unknown status: ${shown}`, cause: "protocol" });
      }
    }
  }

  #endTurn(failure: DialogueFailure): void {
    this.#turn = null;
    this.#approvals.withdrawAll();
    this.#context.emit({ type: "turn_end", ...failure });
  }

  answer(askId: string, text: string): void {
    this.#approvals.answer(askId, text);
  }

  /** Codex rejects a message after the end of the turn. It then waits for the next one. */
  steer(id: string, text: string): void {
    const turn = this.#turn;
    if (!turn || turn.interrupted) return;
    if (turn.id === null) return void turn.early.push([id, text]);
    const input = [{ type: "text", text, text_elements: [] }];
    const params = { threadId: this.#threadId, input, expectedTurnId: turn.id };
    this.#peer.request("turn/steer", params, ({ error }) => {
      if (error === null && this.#turn === turn) this.#context.emit({ type: "steered", id, text });
    });
  }

  interrupt(): void {
    if (!this.#turn) return;
    this.#turn.interrupted = true;
    for (const turn of this.#subagents.openTurns()) this.#peer.request("turn/interrupt", turn, () => {});
    if (this.#turn.id !== null) this.#requestInterrupt(this.#turn.id);
  }

  /** Ignores the answer: `turn/completed` reports the result. */
  #requestInterrupt(turnId: string): void {
    this.#peer.request("turn/interrupt", { threadId: this.#threadId, turnId }, () => {});
  }

  relaunch(): string[] | null {
    if (this.#threadId === null) return null;
    this.#cutOff = true;
    this.#leave();
    return [...this.#context.command];
  }

  exited(exit: ProcessExit): void {
    // The unfinished message may contain the answer.
    this.#turn?.reader.end();
    this.#leave();
    if (!this.#ready) this.#context.fail(exitProblem("codex", exit, "before it was ready"));
  }

  #leave(): void {
    this.#stopWaiting();
    this.#subagents.endAll();
    this.#turn = null;
    this.#approvals.withdrawAll();
  }
}

export const openCodexDialogue: OpenDialogue = (context) => new CodexDialogue(context);
