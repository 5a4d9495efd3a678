// Runs the hooks of a template.
//
// Invariants
// 1. `hookStarted` is stored before a hook runs, so a hook runs at most once per cause, also across a restart.
// 2. The end of a hook is stored too.
// 3. A hook changes nothing in the run, except that a failed one pauses it with `onFailure: "pause"`.
import type { RunWriter } from "./run-writer.ts";
import { hookKey } from "../run/apply.ts";
import type { HookReport } from "../run/command.ts";
import { entryOf } from "../run/fold/shared-record.ts";
import type { RunEvent, StoredEvent } from "../schema/event.ts";
import { HOOK_NAMES, type HookName } from "../schema/hook.ts";
import type { Run } from "../schema/run.ts";
import type { Phase } from "../schema/status.ts";
import type { Template } from "../schema/template.ts";
import type { World } from "../world.ts";

/** Templates name a `HookFunction` by its key in `functions`. */
export type HookFunction = (event: StoredEvent, run: Run) => void | Promise<void>;
export type CommandRunner = (
  command: string,
  options: { cwd: string; stdin: string; timeoutMs: number; runId: string },
) => Promise<{ ok: boolean; detail: string }>;

interface HooksOptions {
  functions: Readonly<Record<string, HookFunction>>;
  runCommand: CommandRunner;
  world: World;
}

const COMMAND = "command:";

/** One sentence for each hook that names neither a command nor one of `functions`. */
export function unknownHooks(template: Template, functions: HooksOptions["functions"]): string[] {
  return HOOK_NAMES.flatMap((name) => {
    const hook = template.hooks[name];
    if (!hook || hook.run.startsWith(COMMAND) || Object.hasOwn(functions, hook.run)) return [];
    return [`hook ${name} names the function ${JSON.stringify(hook.run)}, which is not registered`];
  });
}

/** The hook that `event` triggers; `phase` is the phase in which it happened. */
function hookOf(event: RunEvent, phase: Phase | null): HookName | null {
  switch (event.type) {
    case "orchestrator:analysisComplete":
      return "onAnalysisComplete";
    case "orchestrator:tasksReady":
      return "onTasksGenerated";
    case "worker:started":
      return "onWorkerStart";
    case "worker:completed":
      return "onWorkerComplete";
    case "orchestrator:phaseChanged": {
      const { previousPhase, currentPhase } = event.data;
      return previousPhase === "workerExecution" && currentPhase !== previousPhase ? "onAllWorkersComplete" : null;
    }
    case "orchestrator:completed":
      return phase === "workerExecution" ? "onAllWorkersComplete" : null;
    case "worker:failed":
    case "worker:timeout":
    case "orchestrator:error":
      return "onError";
    default:
      return null;
  }
}

function phaseAfter(event: RunEvent, phase: Phase | null): Phase | null {
  switch (event.type) {
    case "orchestrator:phaseChanged":
      return event.data.currentPhase;
    case "orchestrator:started":
    case "orchestrator:reopened":
      return event.data.phase;
    default:
      return phase;
  }
}

const hasHooks = ({ template }: Run): boolean => HOOK_NAMES.some((name) => template.hooks[name] !== null);

interface Call {
  name: HookName;
  event: StoredEvent;
}

/**
 * The hooks that `events` trigger, in order. Events before `orchestrator:forked` or `orchestrator:imported` trigger
 * nothing: their hooks ran in the original run.
 */
export function callsIn(events: readonly StoredEvent[], phaseBefore: Phase | null): Call[] {
  const lastCopied = events.findLastIndex(
    ({ type }) => type === "orchestrator:forked" || type === "orchestrator:imported",
  );
  let phase = phaseBefore;
  return events.flatMap((event, i) => {
    const name = hookOf(event, phase);
    phase = phaseAfter(event, phase);
    return name !== null && i > lastCopied ? [{ name, event }] : [];
  });
}

export class HookRunner {
  readonly #options: HooksOptions;
  readonly #running = new Set<Promise<void>>();
  /** `runKey` of each hook for which `hookStarted` is being stored, so that it is submitted once. */
  readonly #beginning = new Set<string>();

  constructor(options: HooksOptions) {
    this.#options = options;
  }

  /** `events` have become durable. `run` is the state after them, `phaseBefore` the phase before them. */
  onEvents(events: readonly StoredEvent[], phaseBefore: Phase | null, run: Run, writer: RunWriter): void {
    if (!hasHooks(run)) return;
    for (const { name, event } of callsIn(events, phaseBefore)) {
      if (!run.template.hooks[name]) continue;
      const work: Promise<void> = this.#run(name, event, run, writer)
        // A failed store halts the engine, which reports it.
        .catch(() => {})
        .finally(() => this.#running.delete(work));
      this.#running.add(work);
    }
  }

  /**
   * After a restart: submits `hookEnded` for interrupted hooks. `onEvents` runs those that never started. A run without
   * hooks is not read again.
   */
  async activate(run: Run, readEvents: () => readonly StoredEvent[], writer: RunWriter): Promise<void> {
    if (!hasHooks(run)) return;
    const events = readEvents();
    for (const [key, state] of Object.entries(run.hooks)) {
      if (state !== "running") continue;
      const [name, cause] = key.split(" ") as [HookName, string];
      const hook = { name, cause: Number(cause), run: run.template.hooks[name]?.run ?? "" };
      const detail = "The engine stopped while the hook ran. The hook is not run again.";
      await writer.submit({ type: "hookEnded", hook, ok: false, detail, durationMs: 0, pause: false });
    }
    // Also for a run that is over: the engine may have stopped between its end and the hook.
    this.onEvents(events, null, run, writer);
  }

  async #run(name: HookName, event: StoredEvent, run: Run, writer: RunWriter): Promise<void> {
    const settings = run.template.hooks[name]!;
    const hook: HookReport = { name, cause: event.runSeq, run: settings.run };
    if (!(await this.#begin(hook, writer))) return;
    const { world } = this.#options;
    const began = world.mono();
    const { ok, detail } = await this.#carryOut(settings.run, settings.timeout, event, run);
    const durationMs = Math.round(world.mono() - began);
    await writer.submit({ type: "hookEnded", hook, ok, detail, durationMs, pause: settings.onFailure === "pause" });
  }

  /** Stores `hookStarted`. Returns false if this engine or an earlier one has started the hook. */
  async #begin(hook: HookReport, writer: RunWriter): Promise<boolean> {
    const key = hookKey(hook.name, hook.cause);
    const runKey = `${writer.id} ${key}`;
    if (this.#beginning.has(runKey) || entryOf(writer.run.hooks, key) !== undefined) return false;
    this.#beginning.add(runKey);
    try {
      await writer.submit({ type: "hookStarted", hook });
      return true;
    } finally {
      this.#beginning.delete(runKey);
    }
  }

  async #carryOut(
    program: string,
    timeoutMs: number,
    event: StoredEvent,
    run: Run,
  ): Promise<{ ok: boolean; detail: string }> {
    const { functions, runCommand, world } = this.#options;
    try {
      if (program.startsWith(COMMAND)) {
        const stdin = `${JSON.stringify({ ...event, timestamp: new Date(event.timestamp).toISOString() })}\n`;
        const command = program.slice(COMMAND.length).trim();
        return await runCommand(command, { cwd: run.cwd, stdin, timeoutMs, runId: run.id });
      }
      const timer = new AbortController();
      const late = world.sleep(timeoutMs, timer.signal).then(() => {
        if (!timer.signal.aborted) throw new Error(`The hook took longer than ${timeoutMs} ms.`);
      });
      try {
        await Promise.race([functions[program]!(event, run), late]);
      } finally {
        timer.abort();
      }
      return { ok: true, detail: "" };
    } catch (error) {
      return { ok: false, detail: error instanceof Error ? error.message : String(error) };
    }
  }

  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }
}
