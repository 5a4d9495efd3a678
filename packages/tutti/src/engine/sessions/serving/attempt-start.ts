// The first phase of a session: `AttemptStart` finds the commit from which a new attempt starts.
import { keyOfAttempt } from "../attempt-key.ts";
import type { ServedSession } from "./served-session.ts";
import { FAVOURED } from "../../merging/merge-work.ts";
import { workerOf } from "../../../run/lookup.ts";
import { TuttiError } from "../../../schema/error.ts";
import type { Worker } from "../../../schema/worker.ts";

export class AttemptStart {
  readonly #served: ServedSession;
  #workKey: string | null = null;

  constructor(served: ServedSession) {
    this.#served = served;
  }

  /** Returns null if a known result has completed the attempt. */
  async begin(): Promise<string | null> {
    const start = this.#served.state?.start ?? (await this.#findStart());
    const { run, worker, options, key: place } = this.#served;
    if (!worker || run.forkedFrom === null) return start;
    const attempt = { run, worker, place, start, key: await this.findKey(worker, start) };
    const isDone = await options.known.takeOver(attempt, options.workspaces, (report) => this.#served.report(report));
    // `decide` may reject the result because another task has used it meanwhile; then this attempt is still open.
    return isDone && !this.#served.isOpen ? null : start;
  }

  /** The work key of the attempt. Only a fork needs it before `open`. */
  async findKey(worker: Worker, start: string): Promise<string> {
    const { run, options } = this.#served;
    this.#workKey ??= keyOfAttempt(run, worker, await options.workspaces.treeOf(run.cwd, start));
    return this.#workKey;
  }

  /** `decide` names the start if a conflict between the dependencies is known. One that it could not foresee is settled. */
  async #findStart(): Promise<string> {
    const { run, worker, taskId, options } = this.#served;
    // A skipped or failed dependency has no commit to build on.
    const needs = worker!.task.dependencies.flatMap((id) => {
      const dependency = workerOf(run, id);
      return dependency?.status === "completed" ? [dependency.commit!] : [];
    });
    const message = `Combine the dependencies of ${taskId} of ${run.id}`;
    const favour = FAVOURED[run.template.phases.aggregation.conflictResolution];
    const merge = await options.workspaces.combine(run.cwd, run.id, run.base!, needs, message, favour);
    if (merge.ok) return merge.commit;
    throw new TuttiError(
      "workspace_failed",
      `The work of its dependencies conflicts in ${merge.files.join(", ")}. Retry it.`,
    );
  }
}
