// `RunTrace` derives the spans of one run (the run, its phases and the turns of its agents) from its events alone. The
// same events give the same spans, so a process can continue the trace of an earlier one by replaying the log.
import { spanIdOf, traceIdOf, type Attributes, type Span } from "./span.ts";
import { providerOf } from "../run/provider/provider-name.ts";
import type { EventData, StoredEvent } from "../schema/event.ts";
import type { Usage } from "../schema/outcome.ts";
import type { Phase } from "../schema/status.ts";

interface Open {
  spanId: string;
  startMs: number;
}

interface OpenTurn extends Open {
  data: EventData<"turn:started">;
  parentId: string | null;
  /** Totals of `toolStats`, each with the time of the progress event that reported it. */
  tools: { total: number; at: number }[];
  /** Set when the session has ended. A later `turn:ended` may still report the usage. */
  over: { at: number; error: string | null } | null;
}

interface Session {
  agent: string;
  role: string;
  attempt: number;
}

/** `toolSpans` reads the tool calls of a `TracedTurn` from the transcript. */
export interface TracedTurn {
  sessionId: string;
  number: number;
  tools: readonly { total: number; at: number }[];
}

export interface Ended {
  span: Span;
  turn?: TracedTurn;
}

export class RunTrace {
  readonly #run: string;
  #agent = "";
  #template = "";
  #root: Open | null = null;
  #phase: (Open & { name: Phase }) | null = null;
  /** Counters for span ids: a run can be reopened, and a phase can be entered again. */
  #openings = 0;
  #phases = 0;
  readonly #sessions = new Map<string, Session>();
  readonly #turns = new Map<string, OpenTurn>();

  constructor(run: string) {
    this.#run = run;
  }

  /** Folds the next event and returns the spans that end with it. */
  take(event: StoredEvent): Ended[] {
    const { type, data, timestamp: at } = event;
    switch (type) {
      case "orchestrator:created":
        this.#agent = data.agent;
        this.#template = data.templateId;
        return [];
      case "orchestrator:started":
      case "orchestrator:reopened":
        this.#root = { spanId: spanIdOf(this.#run, "run", ++this.#openings), startMs: at };
        return this.#enter(data.phase, at);
      case "orchestrator:phaseChanged":
        return this.#phase?.name === data.currentPhase ? [] : this.#enter(data.currentPhase, at);
      case "orchestrator:completed":
        return this.#end(at, data.outcome, data.outcome === "failed" ? "The run failed." : null);
      case "orchestrator:cancelled":
        return this.#end(at, "cancelled", null);
      case "orchestrator:error":
        return data.fatal ? this.#end(at, "failed", data.error, data.code) : [];
      case "orchestrator:forked":
      case "orchestrator:imported":
        this.#restartSpans(at);
        return [];
      case "main:spawning":
      case "worker:spawning": {
        const { sessionId, attempt, agent = this.#agent, role = type === "main:spawning" ? "main" : "worker" } = data;
        this.#sessions.set(sessionId, { agent, role, attempt });
        return [];
      }
      case "turn:started": {
        const spanId = spanIdOf(this.#run, "turn", data.sessionId, data.turn);
        const parentId = this.#phase?.spanId ?? this.#root?.spanId ?? null;
        this.#turns.set(data.sessionId, { spanId, startMs: at, data, parentId, tools: [], over: null });
        return [];
      }
      case "turn:ended": {
        const { kind, detail, cause } = data.ending;
        const failed = kind === "error" || kind === "exited" ? { error: detail, "error.type": cause ?? kind } : null;
        return this.#endTurn(data.sessionId, at, data.usage, failed, kind);
      }
      case "turn:abandoned":
        return this.#endTurn(data.sessionId, at, data.usage, null, "abandoned");
      case "worker:progress":
        this.#turns.get(data.sessionId)?.tools.push({ total: data.toolStats.total, at });
        return [];
      case "orchestrator:progress":
        for (const turn of this.#turns.values()) {
          if (turn.data.taskId === null) turn.tools.push({ total: data.stats.total, at });
        }
        return [];
      case "worker:failed":
      case "worker:timeout":
        this.#markSessionEnd(data.sessionId, at, data.error);
        return [];
      case "worker:lost":
      case "main:lost":
        this.#markSessionEnd(data.sessionId, at, data.reason);
        return [];
      case "worker:completed":
      case "worker:cancelled":
      case "main:relieved":
        this.#markSessionEnd(data.sessionId, at, null);
        return [];
      case "workspace:released":
        return [...this.#turns.keys()].flatMap((sessionId) => this.#endTurn(sessionId, at, null, null, "abandoned"));
      default:
        return [];
    }
  }

  /** Restarts run and phase at `at` and drops `#turns`: the copied events happened in another run. */
  #restartSpans(at: number): void {
    this.#turns.clear();
    if (this.#root) this.#root.startMs = at;
    if (this.#phase) this.#phase.startMs = at;
  }

  #enter(name: Phase, at: number): Ended[] {
    const ended = this.#endPhase(at, null);
    this.#phase = { spanId: spanIdOf(this.#run, "phase", ++this.#phases), startMs: at, name };
    return ended;
  }

  #endPhase(at: number, error: string | null): Ended[] {
    const phase = this.#phase;
    this.#phase = null;
    if (!phase) return [];
    const attributes = { "tutti.phase": phase.name };
    return [{ span: this.#span(phase, at, `phase ${phase.name}`, this.#root?.spanId ?? null, attributes, error) }];
  }

  #end(at: number, outcome: string, error: string | null, code?: string): Ended[] {
    for (const sessionId of this.#turns.keys()) this.#markSessionEnd(sessionId, at, null);
    const ended = this.#endPhase(at, error);
    const root = this.#root;
    this.#root = null;
    if (!root) return ended;
    const attributes = {
      "gen_ai.operation.name": "invoke_workflow",
      "gen_ai.workflow.name": this.#template,
      "tutti.run.outcome": outcome,
      "error.type": error === null ? null : (code ?? "failed"),
    };
    // A reopened run continues its trace: the new root span is a child of `previousSpanId`.
    const previousSpanId = this.#openings === 1 ? null : spanIdOf(this.#run, "run", this.#openings - 1);
    const span = this.#span(root, at, `invoke_workflow ${this.#template}`, previousSpanId, attributes, error);
    return [...ended, { span }];
  }

  #markSessionEnd(sessionId: string, at: number, error: string | null): void {
    const turn = this.#turns.get(sessionId);
    if (turn) turn.over ??= { at, error };
  }

  #endTurn(
    sessionId: string,
    at: number,
    usage: Usage | null,
    failed: { error: string; "error.type": string } | null,
    ending: string,
  ): Ended[] {
    const turn = this.#turns.get(sessionId);
    if (!turn) return [];
    this.#turns.delete(sessionId);
    const { data, over, tools } = turn;
    const { agent, role, attempt } = this.#sessions.get(sessionId) ?? { agent: this.#agent, role: null, attempt: null };
    const error = failed?.error ?? over?.error ?? null;
    const attributes = {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": providerOf(agent),
      "gen_ai.provider.name": conventionalName(agent),
      "gen_ai.conversation.id": sessionId,
      "gen_ai.usage.input_tokens": usage?.inputTokens,
      "gen_ai.usage.output_tokens": usage?.outputTokens,
      "error.type": failed?.["error.type"] ?? (error === null ? null : "session_over"),
      "tutti.usage.usd": usage?.usd,
      "tutti.role": role,
      "tutti.attempt": attempt,
      "tutti.task.id": data.taskId,
      "tutti.phase": data.phase,
      "tutti.turn": data.turn,
      "tutti.try": data.try,
      "tutti.ending": ending,
    };
    const name = `invoke_agent ${providerOf(agent)}`;
    const span = this.#span(turn, over?.at ?? at, name, turn.parentId, attributes, error, "client");
    return [{ span, turn: { sessionId, number: data.turn, tools } }];
  }

  #span(
    { spanId, startMs }: Open,
    endMs: number,
    name: string,
    parentId: string | null,
    attributes: Attributes,
    error: string | null,
    kind: Span["kind"] = "internal",
  ): Span {
    const traceId = traceIdOf(this.#run);
    // `Math.max` keeps the duration from being negative if the clock was set back.
    const times = { startMs, endMs: Math.max(startMs, endMs) };
    return {
      traceId,
      spanId,
      parentId,
      name,
      kind,
      ...times,
      attributes: { "tutti.run.id": this.#run, ...attributes },
      error,
    };
  }
}

/** `PROVIDERS` has names of the OpenTelemetry conventions. Other providers keep Tutti's name. */
const PROVIDERS: Readonly<Record<string, string>> = {
  claude: "anthropic",
  codex: "openai",
  "acp:gemini": "gcp.gemini",
};

function conventionalName(agent: string): string {
  const provider = providerOf(agent);
  return Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider]! : provider;
}
