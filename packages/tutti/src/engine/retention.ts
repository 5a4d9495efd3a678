// Removes runs that nobody wants to keep any more, one after the other and beside everything else. Each is removed by the
// engine's own tidying up, which looks again: a run that was opened meanwhile, or waits for a person, stays.
import type { Engine } from "./engine.ts";
import { outdatedRuns, type KeepRules } from "../run/outdated-runs.ts";
import { TuttiError } from "../schema/error.ts";
import type { World } from "../world.ts";

export interface RetentionOptions {
  engine: Pick<Engine, "summaries" | "cleanup">;
  /** Asked each time, so that what the person has changed counts. */
  rules: () => KeepRules;
  world: World;
  /** Something could not be done; it is tried again the next time. */
  failed: (error: unknown) => void;
}

const EVERY_MS = 60 * 60 * 1000;
/** Between two removals, so that runs at work are not held up. */
const PAUSE_MS = 50;

/** Looks now and then once an hour. Returns what ends it. */
export function keepTrimmed(options: RetentionOptions): () => Promise<void> {
  const end = new AbortController();
  const done = trimForEver(options, end.signal);
  return async () => {
    end.abort();
    await done;
  };
}

async function trimForEver(options: RetentionOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await trim(options, signal).catch(options.failed);
    await options.world.sleep(EVERY_MS, signal, true);
  }
}

async function trim({ engine, rules, world, failed }: RetentionOptions, signal: AbortSignal): Promise<void> {
  const rows = engine.summaries();
  const waiting = new Set(rows.filter(({ inbox, released }) => inbox.length > 0 || !released).map(({ id }) => id));
  for (const id of outdatedRuns(rows, (each) => waiting.has(each), rules(), world.now())) {
    if (signal.aborted) return;
    await engine.cleanup(id, { archiveWorkers: false, removeState: true, onlyEnded: true }).catch((error: unknown) => {
      // It was opened again, or somebody else has removed it.
      const isFine = error instanceof TuttiError && ["wrong_state", "run_not_found"].includes(error.code);
      if (!isFine && !signal.aborted) failed(error);
    });
    await world.sleep(PAUSE_MS, signal, true);
  }
}
