// `tutti prune`: removes the `outdatedRuns`. Their branches and refs stay.
import { plural } from "../../run/describe-event.ts";
import { readRetention } from "../../main/settings.ts";
import { readRuns, withRuns } from "../access/open-runs.ts";
import type { Output } from "../terminal/output.ts";
import { readNumber } from "../input/read-number.ts";
import type { RunReader } from "../access/runs.ts";
import { toTuttiError } from "../to-tutti-error.ts";
import { outdatedRuns, type KeepRules } from "../../run/fold/outdated-runs.ts";
import { TuttiError } from "../../schema/error.ts";

interface PruneFlags {
  days?: string;
  keep?: string;
  dryRun?: boolean;
}

export async function prune(output: Output, flags: PruneFlags): Promise<number> {
  const rules = rulesOf(output, flags);
  if (flags.dryRun) {
    const outdated = await find(await readRuns(output), rules);
    output.value({ dryRun: true, outdated });
    for (const id of outdated) output.result(id);
    output.line(`${plural(outdated.length, "run")} would be removed`);
    return 0;
  }
  return withRuns(output, async (runs, signal) => {
    const removed: string[] = [];
    const failed: { id: string; error: string }[] = [];
    for (const id of await find(runs, rules)) {
      if (signal.aborted) break;
      try {
        await runs.cleanup(id, { archiveWorkers: false, deleteWorkers: false, removeState: true, onlyEnded: true });
        removed.push(id);
        output.line(`${id} is removed`);
      } catch (error) {
        const { code, message } = toTuttiError(error);
        if (code === "wrong_state" || code === "run_not_found") continue;
        failed.push({ id, error: message });
        output.warn(`${id} could not be removed: ${message}`);
      }
    }
    output.value({ removed, failed });
    output.result(`${plural(removed.length, "run")} removed`);
    return signal.aborted ? 130 : failed.length > 0 ? 1 : 0;
  });
}

function rulesOf(output: Output, flags: PruneFlags): KeepRules {
  const hasFlags = flags.days !== undefined || flags.keep !== undefined;
  if (hasFlags) {
    return {
      days: flags.days === undefined ? undefined : readNumber("--days", flags.days, 0, 36_500),
      keepRuns: flags.keep === undefined ? undefined : readNumber("--keep", flags.keep, 0, 1_000_000),
    };
  }
  const configured = output.url === undefined ? readRetention(output.dataDir) : undefined;
  if (configured) return configured;
  throw new TuttiError(
    "usage",
    'There is no rule for which runs to keep. Give --days N or --keep N, or set "retention" in tutti.config.json.',
  );
}

async function find(runs: RunReader, rules: KeepRules): Promise<string[]> {
  const waiting = new Set((await runs.inbox()).map(({ run }) => run));
  return outdatedRuns(await runs.rows(), (id) => waiting.has(id), rules, Date.now());
}
