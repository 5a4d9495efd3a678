import { setTimeout as sleep } from "node:timers/promises";
import { describePlan, eventLine } from "../terminal/describe.ts";
import { findRunId } from "../access/find-run.ts";
import { INTERRUPTED, untilInterrupted } from "../terminal/interrupt.ts";
import { readRuns } from "../access/open-runs.ts";
import type { Output } from "../terminal/output.ts";
import { readNumber } from "../input/read-number.ts";
import type { RunReader } from "../access/runs.ts";
import type { Delimiters } from "../../protocol/response/response-scanner.ts";
import { wordsOutsideBlocks } from "../../protocol/response/words-outside-blocks.ts";
import { fold } from "../../run/apply.ts";
import { TuttiError } from "../../schema/error.ts";
import type { StoredEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import { isRunOver } from "../../schema/status.ts";
import type { TranscriptEntry } from "../../schema/transcript.ts";

interface LogsFlags {
  follow?: boolean;
  task?: string;
  tail?: string;
}

/** `show` prints to the terminal, `value` is for `--json`. */
interface Entry {
  value: unknown;
  show: (() => void) | null;
}

/** Polling works whichever process writes the log, so `--follow` needs no subscription. */
const POLL_MS = 300;

export async function logs(output: Output, idPrefix: string, flags: LogsFlags): Promise<number> {
  const { follow = false, task } = flags;
  const tail = flags.tail === undefined ? Number.POSITIVE_INFINITY : readNumber("--tail", flags.tail, 0, 1_000_000);
  const runs = await readRuns(output);
  const id = await findRunId(runs, idPrefix);
  const reader = new LogPrinter(output, runs, id, task ?? null);
  await reader.read(tail);
  if (!follow) return 0;
  return untilInterrupted(async (signal) => {
    while (!reader.isOver) {
      await sleep(POLL_MS, null, { signal }).catch(() => {});
      if (signal.aborted) return INTERRUPTED;
      await reader.read();
    }
    return 0;
  });
}

/** Prints events and, with `#task`, the transcripts of the sessions of that task. */
class LogPrinter {
  readonly #output: Output;
  readonly #runs: RunReader;
  readonly #id: string;
  readonly #task: string | null;
  #run: Run | null = null;
  #seq = 0;
  /** Number of the last printed entry, by session id; `read` continues after it. */
  readonly #printed = new Map<string, number>();
  /** By session id, then by `toolId` of the call that started a sub-agent: its description. */
  readonly #subagents = new Map<string, Map<string, string>>();
  /** `read` prints these once it has read everything new, since `tail` counts from the end. */
  #entries: Entry[] = [];

  constructor(output: Output, runs: RunReader, id: string, task: string | null) {
    this.#output = output;
    this.#runs = runs;
    this.#id = id;
    this.#task = task;
  }

  get isOver(): boolean {
    return this.#run !== null && isRunOver(this.#run.status);
  }

  /** Prints everything since the previous call, or only the last `tail` entries of it. */
  async read(tail = Number.POSITIVE_INFINITY): Promise<void> {
    const sessions = new Set(this.#printed.keys());
    for (const event of await this.#runs.events(this.#id, this.#seq)) {
      this.#seq = event.seq;
      this.#run = fold(this.#run, [event]);
      if (event.type === "worker:spawning" && event.data.taskId === this.#task) sessions.add(event.data.sessionId);
      if (this.#task === null || taskOf(event) === this.#task) this.#readEvent(event);
    }
    if (this.#task !== null && !this.#run?.tasks.some(({ id }) => id === this.#task)) {
      throw new TuttiError(
        "task_not_found",
        `Run "${this.#id}" has no task "${this.#task}". List its tasks with "tutti status ${this.#id}".`,
      );
    }
    for (const sessionId of sessions) await this.#readSession(sessionId);
    const entries = this.#entries.filter(({ show }) => this.#output.json || show !== null);
    this.#entries = [];
    for (const { value, show } of tail === 0 ? [] : entries.slice(-tail)) {
      this.#output.value(value);
      show?.();
    }
  }

  async #readSession(sessionId: string): Promise<void> {
    const entries = await this.#runs.transcript(this.#id, sessionId, this.#printed.get(sessionId) ?? 0);
    // The newest text may still grow, so `isOpen` leaves it for the next call.
    const isOpen = entries.at(-1)?.type === "text" && !this.#isEnded(sessionId);
    const subagents = this.#subagents.get(sessionId) ?? new Map<string, string>();
    this.#subagents.set(sessionId, subagents);
    for (const entry of isOpen ? entries.slice(0, -1) : entries) {
      if (entry.type === "subagent" && entry.toolId !== undefined) subagents.set(entry.toolId, entry.text ?? entry.id);
      const text = describeEntry(entry, subagents, this.#run!.template.prompts.responseFormat);
      const show = text === null ? null : () => this.#output.document(text);
      this.#entries.push({ value: { sessionId, ...entry }, show });
      this.#printed.set(sessionId, entry.n);
    }
    if (!this.#printed.has(sessionId)) this.#printed.set(sessionId, 0);
  }

  #isEnded(sessionId: string): boolean {
    const worker = Object.values(this.#run!.workers).find((each) => each.sessionId === sessionId);
    return this.isOver || worker?.session.state !== "running";
  }

  #readEvent(event: StoredEvent): void {
    const { seq, run, runSeq, type, data } = event;
    const timestamp = new Date(event.timestamp).toISOString();
    const line = eventLine(event, this.#run!);
    const lines = line === null ? [] : [`${timestamp}  ${line}`, ...detailsOf(event, this.#run!)];
    const show = line === null ? null : () => lines.forEach((each) => this.#output.result(each));
    this.#entries.push({ value: { seq, run, runSeq, type, data, timestamp }, show });
  }
}

function detailsOf({ type, data }: StoredEvent, run: Run): string[] {
  if (type === "orchestrator:started") return data.warnings.map((warning) => `  warning: ${warning}`);
  return type === "orchestrator:tasksReady" ? describePlan(run) : [];
}

const taskOf = ({ data }: StoredEvent): unknown => (data as { taskId?: unknown }).taskId;

/**
 * The call of a sub-agent is indented and has its description, because several `subagents` may work at the same time.
 */
function describeTool(entry: Extract<TranscriptEntry, { type: "tool" }>, subagents: Map<string, string>): string {
  const call = `[${entry.name}] ${JSON.stringify(entry.input) ?? ""}`;
  return entry.parent === undefined ? call : `  ${subagents.get(entry.parent) ?? "sub-agent"}: ${call}`;
}

function describeEntry(entry: TranscriptEntry, subagents: Map<string, string>, delimiters: Delimiters): string | null {
  switch (entry.type) {
    case "prompt":
      return `> ${entry.text.split("\n")[0]} (prompt, ${entry.text.length} characters)`;
    case "text":
      return wordsOutsideBlocks(entry.text, delimiters) || null;
    case "tool":
      return describeTool(entry, subagents);
    case "toolFailed":
      return `failed: ${entry.error}`;
    case "toolResult":
      return `  ${entry.text.trim().split("\n")[0]}`;
    case "subagent":
      return `[subagent ${entry.id} ${entry.phase}]${entry.text === null ? "" : ` ${entry.text}`}`;
    case "ask":
      return `asks: ${entry.question}`;
    case "trouble":
      return `provider problem: ${entry.detail}`;
    case "stalled":
      return `stalled: ${entry.detail}`;
    case "unstartable":
      return `could not be started: ${entry.error}`;
    case "interrupted":
      return "interrupted";
    default:
      return null;
  }
}
