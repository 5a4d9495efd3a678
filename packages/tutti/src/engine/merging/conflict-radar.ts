import type { RunWriter } from "../run-writer.ts";
import { emergingBetween } from "../../run/emerging.ts";
import { activeWorkers } from "../../run/lookup.ts";
import type { Workspaces } from "../../workspace/workspace.ts";

interface SavedWork {
  sessionId: string;
  commit: string;
  files: readonly string[];
}

/** Merges the saved work of `activeWorkers` in pairs, to find conflicts before their tasks are done. */
export class ConflictRadar {
  readonly #writer: RunWriter;
  readonly #workspaces: Workspaces;
  /** The newest `SavedWork` by task. A new engine knows none until the next save. */
  readonly #saved = new Map<string, SavedWork>();

  constructor(writer: RunWriter, workspaces: Workspaces) {
    this.#writer = writer;
    this.#workspaces = workspaces;
  }

  /** Called when the unfinished work of a task was committed. Costs one merge per task that changed one of the same files. */
  async probe(taskId: string, sessionId: string, start: string, commit: string): Promise<void> {
    if (this.#writer.run.template.config.emergingConflicts === "ignore") return;
    const { id, cwd } = this.#writer.run;
    const files = await this.#workspaces.changedFiles(cwd, start, commit);
    this.#saved.set(taskId, { sessionId, commit, files });
    for (const other of activeWorkers(this.#writer.run)) {
      const saved = this.#saved.get(other.taskId);
      if (other.taskId === taskId || saved?.sessionId !== other.sessionId) continue;
      const known = emergingBetween(this.#writer.run, taskId, other.taskId);
      if (known.length === 0 && !saved.files.some((file) => files.includes(file))) continue;
      const merge = await this.#workspaces.combine(cwd, id, saved.commit, [commit], `Probe ${taskId} of ${id}`);
      await this.#writer.submit({
        type: "emerging",
        tasks: [taskId, other.taskId],
        files: merge.ok ? [] : merge.files,
      });
    }
  }
}
