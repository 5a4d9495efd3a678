// `AcpDialogue` uses the Agent Client Protocol, version 1: one connection, one conversation, one prompt per turn.
//
// Invariants
// 1. Tutti offers no files and no terminals: the agent uses its own tools in its workspace. The connection rejects
//    every request of the agent except permission requests.
// 2. Only updates between a prompt and its answer are passed on, so a replayed history is never taken for new output.
// 3. The dialogue never calls `authenticate`: it may open a browser or replace the user's login.
import { client, CLIENT_METHODS, AGENT_METHODS, PROTOCOL_VERSION, RequestError } from "@agentclientprotocol/sdk";
import type { ClientApp, InitializeRequest, McpServer } from "@agentclientprotocol/sdk";
import { basename } from "node:path";
import { AUTH_REQUIRED, failureOf, failureOfError, usageOf } from "./end-of-turn.ts";
import { listOf, recordOf, textOrNull, type Fields } from "../../json-fields.ts";
import { isRecord } from "../../../protocol/json/json-value.ts";
import { openLink, type AgentLink } from "./link.ts";
import { isAllowing, outcomeOf, PermissionDesk } from "./permission-desk.ts";
import { AcpTurnReader } from "./turn-reader.ts";
import type {
  Capabilities,
  Dialogue,
  DialogueContext,
  DialogueTurn,
  OpenDialogue,
  ProcessExit,
} from "../../dialogue.ts";
import { exitProblem } from "../dialogue-parts.ts";
import { SERVER_NAME } from "../../tools/own-tool.ts";
import { readVersion } from "../../../own-files.ts";

/** `START_MS` is long, because agents start slowly when many start at once. */
const START_MS = 3 * 60_000;
/** A replayed history may continue after the answer to `session/load`. It is over after a pause of `QUIET_MS`. */
const QUIET_MS = 500;

const HELLO: InitializeRequest = {
  protocolVersion: PROTOCOL_VERSION,
  clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  clientInfo: { name: "tutti", title: "Tutti", version: readVersion() },
};

interface Conversation {
  id: string;
  /** Null if the agent has none. */
  resumeMethod: "session/resume" | "session/load" | null;
  /** `hadTurns` means that a turn of the conversation has ended. */
  hadTurns: boolean;
}

class AcpDialogue implements Dialogue {
  readonly #context: DialogueContext;
  readonly #desk: PermissionDesk;
  readonly #app: ClientApp;
  #link: AgentLink | null = null;
  #conversation: Conversation | null = null;
  #ready = false;
  #failed = false;
  #turn: AcpTurnReader | null = null;
  #refused = false;
  #cost: Capabilities["cost"] = "none";
  #spentUsd = 0;
  #updatedAt = 0;

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
      onUpdate: (params) => this.#readUpdate(params),
      onPromptAnswered: (message) => this.#endTurn(message),
    });
    this.#link = link;
    const late = setTimeout(() => this.#fail(`it did not answer within ${START_MS / 1000} s`), START_MS).unref();
    void this.#connect(link)
      .catch((error: unknown) => {
        if (this.#link === link) this.#fail(sentenceOf(error));
      })
      .finally(() => clearTimeout(late));
  }

  /** Only the first failure counts: afterwards the keeper ends the process. */
  #fail(error: string): void {
    if (!this.#failed) this.#context.fail(error);
    this.#failed = true;
  }

  async #connect(link: AgentLink): Promise<void> {
    // The SDK does not validate answers, hence `recordOf`.
    const agent = recordOf(
      await link.agent.request(AGENT_METHODS.initialize, HELLO).catch((error: unknown) => {
        throw new Error(`it does not seem to support the Agent Client Protocol: ${sentenceOf(error)}`);
      }),
    );
    const version = agent["protocolVersion"];
    if (version !== PROTOCOL_VERSION) {
      const supported = `Tutti supports version ${PROTOCOL_VERSION}`;
      throw new Error(`it uses version ${JSON.stringify(version)} of the protocol, but ${supported}`);
    }
    const hadTurns = this.#conversation?.hadTurns === true;
    const problem = this.#conversation ? await this.#resume(link, agent, this.#conversation) : null;
    if (!this.#conversation || problem !== null) await this.#begin(link, agent);
    // The process may have exited meanwhile.
    if (this.#link !== link) return;
    this.#announce(agent);
    // Without an earlier turn nothing is lost: the open turn is sent again.
    if (problem !== null && hadTurns) this.#context.emit({ type: "turn_end", error: problem, cause: "died" });
    this.#ready = true;
    this.#context.ready();
  }

  async #begin(link: AgentLink, agent: Fields): Promise<void> {
    const answer = await link.agent
      .request(AGENT_METHODS.session_new, { cwd: this.#context.cwd, mcpServers: this.#toolServers(agent) })
      .catch((error: unknown) => {
        throw isAuthRequired(error) ? new Error(loginSentence(agent, sentenceOf(error))) : error;
      });
    const id = textOrNull(recordOf(answer)["sessionId"]);
    if (id === null) throw new Error("it started a conversation without an id");
    const { loadSession, sessionCapabilities } = recordOf(agent["agentCapabilities"]);
    const canResume = isRecord(recordOf(sessionCapabilities)["resume"]);
    const resumeMethod = canResume ? "session/resume" : loadSession === true ? "session/load" : null;
    this.#conversation = { id, resumeMethod, hadTurns: false };
    await this.#chooseModel(link, id, recordOf(answer));
  }

  /** Only agents that support MCP over `http` can reach the tools of Tutti. */
  #toolServers(agent: Fields): McpServer[] {
    const { mcpCapabilities } = recordOf(agent["agentCapabilities"]);
    if (recordOf(mcpCapabilities)["http"] !== true) return [];
    const { url, token } = this.#context.tools;
    const headers = [{ name: "Authorization", value: `Bearer ${token}` }];
    return [{ type: "http", name: SERVER_NAME, url, headers }];
  }

  async #chooseModel(link: AgentLink, sessionId: string, session: Fields): Promise<void> {
    const { model } = this.#context;
    if (model === null) return;
    const choice = choiceOfModel(session, sessionId, model);
    if (choice === null) throw new Error(`it has no choice of models. Put the model ${model} into its command`);
    await link.agent.request(choice.method, choice.params);
  }

  /** Returns the problem if the conversation cannot be resumed, else null. */
  async #resume(link: AgentLink, agent: Fields, { id, resumeMethod }: Conversation): Promise<string | null> {
    try {
      const params = { sessionId: id, cwd: this.#context.cwd, mcpServers: this.#toolServers(agent) };
      const session = recordOf(await link.agent.request(resumeMethod!, params));
      // An agent that lists no models in `session` keeps the one that was set at the start.
      if (choiceOfModel(session, id, "") !== null) await this.#chooseModel(link, id, session);
      do await new Promise((resolve) => void setTimeout(resolve, QUIET_MS));
      while (performance.now() - this.#updatedAt < QUIET_MS);
      return null;
    } catch (error) {
      return `the agent died in the middle of its turn, and its conversation could not be resumed: ${sentenceOf(error)}`;
    }
  }

  #announce({ agentInfo }: Fields): void {
    const { id, resumeMethod } = this.#conversation!;
    const agent = textOrNull(recordOf(agentInfo)["name"]) ?? basename(this.#context.command[0] ?? "acp");
    const version = textOrNull(recordOf(agentInfo)["version"]) ?? "unknown";
    const resume = resumeMethod !== null;
    const announceWith = (cost: Capabilities["cost"]): void => {
      this.#cost = cost;
      const fixed = { partialText: true, interrupt: true, resume, permissions: true, subagents: false };
      this.#context.emit({ type: "ready", agent, version, conversation: id, capabilities: { ...fixed, cost } });
    };
    announceWith(this.#cost);
    this.#announceCost = announceWith;
  }

  /** The protocol does not announce whether an agent reports usage, so `ready` is repeated with its first report. */
  #announceCost: (cost: Capabilities["cost"]) => void = () => {};

  receive(line: string): void {
    this.#link?.receive(line);
  }

  #readUpdate(params: unknown): void {
    this.#updatedAt = performance.now();
    const { sessionId, update } = recordOf(params);
    if (sessionId === this.#conversation?.id) this.#turn?.read(recordOf(update));
  }

  turn({ text }: DialogueTurn): void {
    const turn = new AcpTurnReader((line) => this.#context.emit(line));
    this.#turn = turn;
    this.#refused = false;
    const params = { sessionId: this.#conversation!.id, prompt: [{ type: "text" as const, text }] };
    // `onPromptAnswered` handles the answer; this catches failures of the connection.
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
    this.#reportUsage(recordOf(answer["result"]), turn);
    const failure = failureOf(answer, turn.trouble, turn.lastWords);
    const denied = failure.error !== undefined && failure.cause === undefined && this.#refused;
    this.#context.emit({ type: "turn_end", ...failure, ...(denied ? { cause: "denied" } : {}) });
  }

  /** Tokens are per turn. `cost` is the total of the conversation; a new process may count it from zero. */
  #reportUsage(result: Fields, { cost, context }: AcpTurnReader): void {
    const tokens = usageOf(result);
    const usd = cost === null ? 0 : cost < this.#spentUsd ? cost : cost - this.#spentUsd;
    this.#spentUsd = cost ?? this.#spentUsd;
    const isSpent = tokens !== null || usd > 0;
    if (!isSpent && context.contextTokens === 0) return;
    const reported = cost === null ? "tokens" : "usd";
    if (!isSpent) return this.#context.emit({ type: "usage", inputTokens: 0, outputTokens: 0, ...context });
    if (this.#cost === "none" || (this.#cost === "tokens" && reported === "usd")) this.#announceCost(reported);
    this.#context.emit({
      type: "usage",
      ...(tokens ?? { inputTokens: 0, outputTokens: 0 }),
      ...(usd > 0 ? { usd } : {}),
      ...(context.contextTokens > 0 ? context : {}),
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
    if (!this.#conversation?.resumeMethod) return null;
    // The whole turn is sent again, so `relaunch` does not complete an unfinished message.
    this.#leave();
    return [...this.#context.command];
  }

  exited(exit: ProcessExit): void {
    // The unfinished message may contain the answer.
    this.#turn?.end();
    this.#leave();
    if (!this.#ready) this.#fail(exitProblem("it", exit, "before it was ready"));
  }

  #leave(): void {
    this.#turn = null;
    this.#desk.withdrawAll();
    this.#link?.close();
    this.#link = null;
  }
}

export const openAcpDialogue: OpenDialogue = (context) => new AcpDialogue(context);

/** An agent lists its models as one of the `configOptions` of the session or, in older versions, as `models`. */
function choiceOfModel(
  { configOptions, models }: Fields,
  sessionId: string,
  model: string,
): { method: string; params: object } | null {
  const option = listOf(configOptions).find(({ category }) => category === "model");
  const configId = textOrNull(option?.["id"]);
  if (configId !== null) return { method: "session/set_config_option", params: { sessionId, configId, value: model } };
  return isRecord(models) ? { method: "session/set_model", params: { sessionId, modelId: model } } : null;
}

const isAuthRequired = (error: unknown): boolean => error instanceof RequestError && error.code === AUTH_REQUIRED;

function sentenceOf(error: unknown): string {
  if (error instanceof RequestError) return failureOfError(error).error!;
  return error instanceof Error ? error.message : String(error);
}

function loginSentence({ agentInfo, authMethods }: Fields, reason: string): string {
  const methods = listOf(authMethods).flatMap(({ name }) => textOrNull(name) ?? []);
  const offers = methods.length === 0 ? "" : ` Its login methods: ${methods.join(", ")}.`;
  const { title, name } = recordOf(agentInfo);
  const program = textOrNull(title) ?? textOrNull(name) ?? "the agent";
  return `it is not logged in (${reason}). Start ${program} in a terminal and log in, or set its key in the environment.${offers}`;
}
