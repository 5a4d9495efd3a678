// `RepositoryWatch` reports each change of the user's refs and settings during the turns of one run once.
import type { RepositoryChanges, RepositoryState, Workspaces } from "../../workspace/workspace.ts";

export class RepositoryWatch {
  readonly #workspaces: Workspaces;
  readonly #cwd: string;
  #active = 0;
  #state: RepositoryState | null = null;
  /** Calls of `changesSince` run one after the other, so that no change is reported twice. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(workspaces: Workspaces, cwd: string) {
    this.#workspaces = workspaces;
    this.#cwd = cwd;
  }

  /** Called before a turn. Changes while no turn was open are the user's and are not reported. */
  async begin(): Promise<void> {
    const isFirst = this.#active++ === 0;
    if (isFirst) await this.#next(null);
  }

  /** Called after a turn. Returns the changes since the last call of `changesSince`, or null. */
  end(): Promise<RepositoryChanges | null> {
    this.#active--;
    return this.#next("last");
  }

  async settled(): Promise<void> {
    await this.#last;
  }

  #next(since: "last" | null): Promise<RepositoryChanges | null> {
    const next = this.#last.then(async () => {
      const before = since === null ? null : this.#state;
      const { state, changes } = await this.#workspaces.changesSince(this.#cwd, before);
      this.#state = state;
      return changes;
    });
    this.#last = next.catch(() => undefined);
    return next;
  }
}
