// `keepTrimmed` removes outdated runs and their kept work, one at a time. Their branches stay. `engine.cleanup` checks
// each run again, so a run that was reopened or has open inbox items stays.
import type { Engine } from "../engine.ts";
import { outdatedRuns, type KeepRules } from "../../run/fold/outdated-runs.ts";
import { TuttiError } from "../../schema/error.ts";
import type { World } from "../../world.ts";

interface RetentionOptions {
  engine: Pick<Engine, "summaries" | "cleanup">;
  /** Called before each pass, so that changed settings apply. */
  rules: () => KeepRules;
  world: World;
  /** Called when a removal fails; the next pass repeats it. */
  failed: (error: unknown) => void;
}

const EVERY_MS = 60 * 60 * 1000;
/** `PAUSE_MS` between two removals keeps them from delaying live runs. */
const PAUSE_MS = 50;

/** Removes outdated runs now and every `EVERY_MS`. Returns a function that stops it. */
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
    const options = { archiveWorkers: false, removeState: true, onlyEnded: true, freeWork: true };
    await engine.cleanup(id, options).catch((error: unknown) => {
      // The run was reopened, another caller has removed it, or another server carries it on and removes it.
      const isFine = error instanceof TuttiError && ["wrong_state", "run_not_found", "run_moved"].includes(error.code);
      if (!isFine && !signal.aborted) failed(error);
    });
    await world.sleep(PAUSE_MS, signal, true);
  }
}
