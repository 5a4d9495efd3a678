// Hooks: what the template wants run at moments of a run. A hook is recorded before it runs, so it runs at most once for
// each cause whatever happens to the engine; its end is recorded too. What it does or fails to do changes nothing in the
// run, unless the template wants it paused.
import type { RunWriter } from "./run-writer.ts";
import { hookKey } from "../run/apply.ts";
import type { HookReport } from "../run/command.ts";
import { entryOf } from "../run/shared-record.ts";
import type { RunEvent, StoredEvent } from "../schema/event.ts";
import { HOOK_NAMES, type HookName } from "../schema/hook.ts";
import type { Run } from "../schema/run.ts";
import type { Phase } from "../schema/status.ts";
import type { Template } from "../schema/template.ts";
import type { World } from "../world.ts";

/** Something registered in code under a name that templates can use. */
export type HookFunction = (event: StoredEvent, run: Run) => void | Promise<void>;
export type CommandRunner = (
  command: string,
  options: { cwd: string; stdin: string; timeoutMs: number; runId: string },
) => Promise<{ ok: boolean; detail: string }>;

export interface HooksOptions {
  functions: Readonly<Record<string, HookFunction>>;
  runCommand: CommandRunner;
  world: World;
}

const COMMAND = "command:";

/** Sentences about hooks of a template that could never run. */
export function unknownHooks(template: Template, functions: HooksOptions["functions"]): string[] {
  return HOOK_NAMES.flatMap((name) => {
    const hook = template.hooks[name];
    if (!hook || hook.run.startsWith(COMMAND) || Object.hasOwn(functions, hook.run)) return [];
    return [`${name} names ${JSON.stringify(hook.run)}, which is not registered`];
  });
}

/** The hook that an event calls for; `phase` is the one in which it happened. */
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

/** The phase after an event that happened in `phase`. */
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

interface Call {
  name: HookName;
  event: StoredEvent;
}

/**
 * What the events call for, one after the other, from the phase that the run was in before them. What a run was given of
 * another one's past calls for nothing: it happened there, and whoever lived there has heard of it.
 */
export function callsIn(events: readonly StoredEvent[], before: Phase | null): Call[] {
  const own = events.findLastIndex(({ type }) => type === "orchestrator:forked" || type === "orchestrator:imported");
  let phase = before;
  return events.flatMap((event, i) => {
    const name = hookOf(event, phase);
    phase = phaseAfter(event, phase);
    return name !== null && i > own ? [{ name, event }] : [];
  });
}

export class Hooks {
  readonly #options: HooksOptions;
  readonly #running = new Set<Promise<void>>();
  /** Hooks whose start is on its way into the log. */
  readonly #beginning = new Set<string>();

  constructor(options: HooksOptions) {
    this.#options = options;
  }

  /** Events that have just become durable, with the phase before them and the state after them. */
  heard(events: readonly StoredEvent[], before: Phase | null, run: Run, writer: RunWriter): void {
    for (const { name, event } of callsIn(events, before)) {
      if (!run.template.hooks[name]) continue;
      const work: Promise<void> = this.#run(name, event, run, writer)
        // A store that failed meanwhile has been heard of elsewhere.
        .catch(() => {})
        .finally(() => this.#running.delete(work));
      this.#running.add(work);
    }
  }

  /** After a restart: what was running is over, and what was never begun is begun. */
  async takeUp(run: Run, events: readonly StoredEvent[], writer: RunWriter): Promise<void> {
    if (HOOK_NAMES.every((name) => run.template.hooks[name] === null)) return;
    for (const [key, state] of Object.entries(run.hooks)) {
      if (state !== "running") continue;
      const [name, cause] = key.split(" ") as [HookName, string];
      const hook = { name, cause: Number(cause), run: run.template.hooks[name]?.run ?? "" };
      const detail = "the engine ended while it ran; it is not run again";
      await writer.submit({ type: "hookEnded", hook, ok: false, detail, durationMs: 0, pause: false });
    }
    // Also of a run that is over: the engine may have died between its end and the hook that is to hear of it.
    this.heard(events, null, run, writer);
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

  /** Whether the hook is to run; it is not if it was started before, here or by an engine that is gone. */
  async #begin(hook: HookReport, writer: RunWriter): Promise<boolean> {
    const key = hookKey(hook.name, hook.cause);
    const here = `${writer.id} ${key}`;
    if (this.#beginning.has(here) || entryOf(writer.run.hooks, key) !== undefined) return false;
    this.#beginning.add(here);
    try {
      await writer.submit({ type: "hookStarted", hook });
      return true;
    } finally {
      this.#beginning.delete(here);
    }
  }

  async #carryOut(
    what: string,
    timeoutMs: number,
    event: StoredEvent,
    run: Run,
  ): Promise<{ ok: boolean; detail: string }> {
    const { functions, runCommand, world } = this.#options;
    try {
      if (what.startsWith(COMMAND)) {
        const stdin = `${JSON.stringify({ ...event, timestamp: new Date(event.timestamp).toISOString() })}\n`;
        const command = what.slice(COMMAND.length).trim();
        return await runCommand(command, { cwd: run.cwd, stdin, timeoutMs, runId: run.id });
      }
      const end = new AbortController();
      const late = world.sleep(timeoutMs, end.signal).then(() => {
        if (!end.signal.aborted) throw new Error(`it took longer than ${timeoutMs} ms`);
      });
      try {
        await Promise.race([functions[what]!(event, run), late]);
      } finally {
        end.abort();
      }
      return { ok: true, detail: "" };
    } catch (error) {
      return { ok: false, detail: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Resolves when no hook is under way. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }
}
