// The Agent Client Protocol, version 1, as a dialogue: one connection, one conversation, one prompt per turn.
//
// 1. Files and terminals are not offered: the agent works in its own workspace with tools of its own, and whatever it
//    asks of us beyond a permission is refused by the connection.
// 2. Only what comes between a prompt and its answer is told, so a history that is replayed is never taken for news.
// 3. Nobody is logged in from here: an agent's `authenticate` may open a browser, or replace a login of the person.
import { client, CLIENT_METHODS, AGENT_METHODS, PROTOCOL_VERSION, RequestError } from "@agentclientprotocol/sdk";
import type { ClientApp } from "@agentclientprotocol/sdk";
import { basename } from "node:path";
import { AUTH_REQUIRED, failureOf, failureOfError, usageOf } from "./end-of-turn.ts";
import { isRecord, listOf, recordOf, textOf, type Fields } from "./fields.ts";
import { HELLO } from "./hello.ts";
import { openLink, type Link } from "./link.ts";
import { isAllowing, outcomeOf, PermissionDesk } from "./permission-desk.ts";
import { TurnReader } from "./turn-reader.ts";
import type { Capabilities, Dialogue, DialogueContext, DialogueTurn, OpenDialogue } from "../../dialogue.ts";

/** Agents are slow to start where many do so at once; one that says nothing at all will not come. */
const START_MS = 3 * 60_000;
/** A history may still come after the agent has said that it is loaded. It is over when it pauses for this long. */
const QUIET_MS = 500;

interface Conversation {
  id: string;
  /** How it can be taken up again. */
  again: "session/resume" | "session/load" | null;
  /** Whether a turn of it has ended. */
  hadTurns: boolean;
}

class AcpDialogue implements Dialogue {
  readonly #context: DialogueContext;
  readonly #desk: PermissionDesk;
  readonly #app: ClientApp;
  #link: Link | null = null;
  #conversation: Conversation | null = null;
  #ready = false;
  #failed = false;
  #turn: TurnReader | null = null;
  #refused = false;
  #cost: Capabilities["cost"] = "none";
  #spentUsd = 0;
  #heardAt = 0;

  constructor(context: DialogueContext) {
    this.#context = context;
    this.#desk = new PermissionDesk(context);
    this.#app = client({ name: "tutti" }).onRequest(
      CLIENT_METHODS.session_request_permission,
      async ({ params, signal }) => {
        const turn = this.#turn;
        if (!turn || params.sessionId !== this.#conversation?.id) return outcomeOf(null);
        const call = turn.readCall(recordOf(params.toolCall));
        const chosen = await this.#desk.decide(call, params.options, signal);
        if (isAllowing(chosen)) turn.beginCall(params.toolCall.toolCallId);
        else turn.refuseCall(params.toolCall.toolCallId);
        this.#refused ||= chosen !== null && !isAllowing(chosen);
        return outcomeOf(chosen);
      },
    );
  }

  open(): void {
    this.#link?.close();
    const link = openLink({
      app: this.#app,
      write: (text) => this.#context.write(text),
      onUpdate: (params) => this.#hearUpdate(params),
      onPromptAnswered: (message) => this.#endTurn(message),
    });
    this.#link = link;
    const late = setTimeout(() => this.#fail(`it did not answer within ${START_MS / 1000} s`), START_MS).unref();
    void this.#shakeHands(link)
      .catch((error: unknown) => {
        if (this.#link === link) this.#fail(sentenceOf(error));
      })
      .finally(() => clearTimeout(late));
  }

  /** Once: what happens to the process from here on is our own doing. */
  #fail(error: string): void {
    if (!this.#failed) this.#context.fail(error);
    this.#failed = true;
  }

  async #shakeHands(link: Link): Promise<void> {
    // The connection does not check what an answer holds.
    const agent = recordOf(
      await link.agent.request(AGENT_METHODS.initialize, HELLO).catch((error: unknown) => {
        throw new Error(`it does not seem to speak the Agent Client Protocol: ${sentenceOf(error)}`);
      }),
    );
    const version = agent["protocolVersion"];
    if (version !== PROTOCOL_VERSION) {
      throw new Error(`it speaks version ${JSON.stringify(version)} of the protocol, and Tutti ${PROTOCOL_VERSION}`);
    }
    const hadTurns = this.#conversation?.hadTurns === true;
    const lost = this.#conversation ? await this.#takeUp(link, this.#conversation) : null;
    if (!this.#conversation || lost !== null) await this.#begin(link, agent);
    // Its process may have ended meanwhile.
    if (this.#link !== link) return;
    this.#tellReady(agent);
    // A conversation that held nothing but the turn which is given again is no loss.
    if (lost !== null && hadTurns) this.#context.tell({ type: "turn_end", error: lost });
    this.#ready = true;
    this.#context.ready();
  }

  async #begin(link: Link, agent: Fields): Promise<void> {
    const begun = await link.agent
      .request(AGENT_METHODS.session_new, { cwd: this.#context.cwd, mcpServers: [] })
      .catch((error: unknown) => {
        throw isAuthRequired(error) ? new Error(loginSentence(agent, sentenceOf(error))) : error;
      });
    const id = textOf(recordOf(begun)["sessionId"]);
    if (id === null) throw new Error("it began a conversation without a name");
    const { loadSession, sessionCapabilities } = recordOf(agent["agentCapabilities"]);
    const canResume = isRecord(recordOf(sessionCapabilities)["resume"]);
    const again = canResume ? "session/resume" : loadSession === true ? "session/load" : null;
    this.#conversation = { id, again, hadTurns: false };
  }

  /** What became of the conversation if it cannot be taken up again. */
  async #takeUp(link: Link, { id, again }: Conversation): Promise<string | null> {
    try {
      await link.agent.request(again!, { sessionId: id, cwd: this.#context.cwd, mcpServers: [] });
      do await new Promise((resolve) => void setTimeout(resolve, QUIET_MS));
      while (performance.now() - this.#heardAt < QUIET_MS);
      return null;
    } catch (error) {
      return `the agent died in the middle of its turn, and its conversation could not be taken up again: ${sentenceOf(error)}`;
    }
  }

  #tellReady({ agentInfo }: Fields): void {
    const { id, again } = this.#conversation!;
    const agent = textOf(recordOf(agentInfo)["name"]) ?? basename(this.#context.command[0] ?? "acp");
    const version = textOf(recordOf(agentInfo)["version"]) ?? "unknown";
    const tellWith = (cost: Capabilities["cost"]): void => {
      this.#cost = cost;
      const known = { partialText: true, interrupt: true, resume: again !== null, permissions: true, subagents: false };
      this.#context.tell({ type: "ready", agent, version, conversation: id, capabilities: { ...known, cost } });
    };
    tellWith(this.#cost);
    this.#tellCost = tellWith;
  }

  /** Whether an agent tells what it uses is seen when it does. */
  #tellCost: (cost: Capabilities["cost"]) => void = () => {};

  hear(line: string): void {
    this.#link?.hear(line);
  }

  #hearUpdate(params: unknown): void {
    this.#heardAt = performance.now();
    const { sessionId, update } = recordOf(params);
    if (sessionId === this.#conversation?.id) this.#turn?.read(recordOf(update));
  }

  turn({ text }: DialogueTurn): void {
    const turn = new TurnReader((line) => this.#context.tell(line));
    this.#turn = turn;
    this.#refused = false;
    const params = { sessionId: this.#conversation!.id, prompt: [{ type: "text" as const, text }] };
    // The answer has been read where it came in; this is for a connection that cannot go on.
    this.#link!.agent.request(AGENT_METHODS.session_prompt, params).catch((error: unknown) => {
      if (this.#turn === turn) this.#endTurn({ error: { message: sentenceOf(error) } });
    });
  }

  #endTurn(answer: Fields): void {
    const turn = this.#turn;
    if (!turn) return;
    this.#turn = null;
    this.#conversation!.hadTurns = true;
    this.#desk.withdrawAll();
    turn.end();
    this.#tellUsage(recordOf(answer["result"]), turn.cost);
    const failure = failureOf(answer, turn.trouble, turn.lastWords);
    const denied = failure.error !== undefined && failure.cause === undefined && this.#refused;
    this.#context.tell({ type: "turn_end", ...failure, ...(denied ? { cause: "denied" } : {}) });
  }

  /** Tokens are those of the turn; money is that of the conversation so far, which a new process may count from nothing. */
  #tellUsage(result: Fields, cost: number | null): void {
    const tokens = usageOf(result);
    const usd = cost === null ? 0 : cost < this.#spentUsd ? cost : cost - this.#spentUsd;
    this.#spentUsd = cost ?? this.#spentUsd;
    if (!tokens && usd === 0) return;
    const seen = cost === null ? "tokens" : "usd";
    if (this.#cost === "none" || (this.#cost === "tokens" && seen === "usd")) this.#tellCost(seen);
    this.#context.tell({
      type: "usage",
      ...(tokens ?? { inputTokens: 0, outputTokens: 0 }),
      ...(usd > 0 ? { usd } : {}),
    });
  }

  answer(askId: string, text: string): void {
    this.#desk.answer(askId, text);
  }

  interrupt(): void {
    if (!this.#turn || !this.#conversation) return;
    void this.#link!.agent.notify(AGENT_METHODS.session_cancel, { sessionId: this.#conversation.id }).catch(() => {});
    this.#desk.withdrawAll();
  }

  relaunch(): string[] | null {
    if (!this.#conversation?.again) return null;
    // The turn is given again as a whole; what was said of it stays a beginning.
    this.#leave();
    return [...this.#context.command];
  }

  exited({ code, signal, errors }: { code: number | null; signal: string | null; errors: string }): void {
    // Its last words may hold the answer, although it did not come to the end of its turn.
    this.#turn?.end();
    this.#leave();
    if (this.#ready) return;
    const how = signal ? `was ended by ${signal}` : `exited with ${code}`;
    const words = errors.trim().split("\n").at(-1)!.slice(0, 300);
    this.#fail(`it ${how} before it was ready${words === "" ? "" : `: ${words}`}`);
  }

  #leave(): void {
    this.#turn = null;
    this.#desk.withdrawAll();
    this.#link?.close();
    this.#link = null;
  }
}

export const openAcpDialogue: OpenDialogue = (context) => new AcpDialogue(context);

const isAuthRequired = (error: unknown): boolean => error instanceof RequestError && error.code === AUTH_REQUIRED;

function sentenceOf(error: unknown): string {
  if (error instanceof RequestError) return failureOfError(error).error!;
  return error instanceof Error ? error.message : String(error);
}

function loginSentence({ agentInfo, authMethods }: Fields, reason: string): string {
  const ways = listOf(authMethods).flatMap(({ name }) => textOf(name) ?? []);
  const offers = ways.length === 0 ? "" : ` It offers: ${ways.join(", ")}.`;
  const { title, name } = recordOf(agentInfo);
  const who = textOf(title) ?? textOf(name) ?? "the agent";
  return `nobody is logged in (${reason}). Start ${who} by itself once and log in there, or set its key in the environment.${offers}`;
}
