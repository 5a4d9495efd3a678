// `SharedWork` gives a server that takes over a run the commits in the clone of the server before. They go through the
// remote, or as a bundle through the database if the remote rejects the push.
//
// Invariant: while another server uses the database, a commit is shared before the event that names it is stored.
// Earlier commits are shared when the first other server appears.
import type { Fleet } from "./fleet.ts";
import { TuttiError } from "../schema/error.ts";
import { pathName, runBranch } from "../schema/ids.ts";
import type { Exchange } from "../workspace/exchange/exchange.ts";

const refPrefix = (runId: string): string => `refs/tutti/${pathName(runId)}/`;
/** The ref of a run's branch on its way to another server. No repository of a server has it. */
const headRef = (runId: string): string => `${refPrefix(runId)}head`;

interface UnsharedRefs {
  cwd: string;
  /** Commits by ref. A long run collects one for each attempt, so no change may copy them all. */
  refs: Map<string, string>;
}

export class SharedWork {
  readonly #fleet: Fleet;
  readonly #exchange: Exchange;
  /** Refs that could not be shared, or that no other server needed, by run. */
  readonly #unshared = new Map<string, UnsharedRefs>();

  constructor(fleet: Fleet, exchange: Exchange) {
    this.#fleet = fleet;
    this.#exchange = exchange;
    fleet.onShared(() => this.#shareAll());
  }

  shareHead(cwd: string, runId: string, commit: string): Promise<void> {
    return this.share(cwd, runId, { [headRef(runId)]: commit });
  }

  /**
   * A commit that cannot be shared now is shared with the next one. With `isPushed` the host of the attempt has pushed it.
   */
  async share(cwd: string, runId: string, refs: Record<string, string>, isPushed = false): Promise<void> {
    if (isPushed && this.#fleet.isShared) return this.#fleet.storeParcel(runId, { refs, bundle: null });
    const unshared = this.#unshared.get(runId)?.refs ?? new Map<string, string>();
    this.#unshared.set(runId, { cwd, refs: unshared });
    for (const [ref, commit] of Object.entries(refs)) unshared.set(ref, commit);
    if (this.#fleet.isShared) await this.#shareRun(runId).catch(() => {});
  }

  async #shareAll(): Promise<void> {
    for (const runId of this.#unshared.keys()) await this.#shareRun(runId).catch(() => {});
  }

  async #shareRun(runId: string): Promise<void> {
    const { cwd, ...unshared } = this.#unshared.get(runId)!;
    const refs = Object.fromEntries(unshared.refs);
    const remote = await this.#exchange.remoteOf(cwd);
    if (remote === null) return;
    const isPushed = await this.#exchange.push(cwd, remote, refs);
    // Every clone can fetch the branches of the remote, and receives the earlier parcels first.
    const known = isPushed ? [] : [...(await this.#exchange.fetch(cwd, remote)), ...(await this.#sharedCommits(runId))];
    const bundle = isPushed ? null : await this.#exchange.pack(cwd, Object.values(refs), known);
    await this.#fleet.storeParcel(runId, { refs, bundle });
    const left = this.#unshared.get(runId)?.refs;
    for (const [ref, commit] of Object.entries(refs)) if (left?.get(ref) === commit) left.delete(ref);
    if (left?.size === 0) this.#unshared.delete(runId);
  }

  async #sharedCommits(runId: string): Promise<string[]> {
    return (await this.#fleet.parcels(runId)).flatMap(({ refs }) => Object.values(refs));
  }

  forget(runId: string): void {
    this.#unshared.delete(runId);
  }

  /** Fetches the commits of a run of another server. Throws `commits_missing` if one of `wanted` is still missing then. */
  async receive(cwd: string, runId: string, wanted: readonly string[]): Promise<void> {
    if ((await this.#missing(cwd, wanted)).length === 0) return;
    const remote = await this.#exchange.remoteOf(cwd);
    try {
      await this.#receiveAll(cwd, runId, remote);
    } catch {
      // The commits that did not arrive are missing.
    }
    const [missing] = await this.#missing(cwd, wanted);
    if (missing === undefined) return;
    throw new TuttiError(
      "commits_missing",
      `The commit ${missing} of run "${runId}" is only in the clone of the server that executed it. Push the branch "${runBranch(runId)}" from that clone to its remote, then resume the run.`,
    );
  }

  async #receiveAll(cwd: string, runId: string, remote: string | null): Promise<void> {
    const known = remote === null ? [] : await this.#exchange.fetch(cwd, remote);
    for (const { refs, bundle } of await this.#fleet.parcels(runId)) {
      await this.#exchange.bring(cwd, remote, { refs, bundle }, known);
      known.push(...Object.values(refs));
      for (const [ref, commit] of Object.entries(refs)) {
        // The branch of the run keeps `headRef` reachable.
        const parcel = { refs: { [ref]: commit }, start: commit, bundle: null };
        if (ref !== headRef(runId)) await this.#exchange.receive(cwd, null, parcel, refPrefix(runId));
      }
    }
  }

  async #missing(cwd: string, wanted: readonly string[]): Promise<string[]> {
    const has = await Promise.all(wanted.map((commit) => this.#exchange.has(cwd, commit)));
    return wanted.filter((_, i) => !has[i]);
  }
}
