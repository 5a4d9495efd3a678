// `withRemoteWorkspaces` puts workspaces on worker hosts behind the engine's `Workspaces` and `CheckRunner`. Commits
// reach the server's repository through its remote or as a bundle, and get the refs that a workspace on this machine
// would have.
import { randomUUID } from "node:crypto";
import type { z } from "zod";
import type { Fleet } from "./fleet.ts";
import { REPLIES, type HostRequest } from "./host-request.ts";
import { ignoreLost } from "./remote-sessions.ts";
import { SharedWork } from "./shared-work.ts";
import type { CheckRunner } from "../engine/sessions/run-checks.ts";
import { TuttiError } from "../schema/error.ts";
import { attemptRef, pathName } from "../schema/ids.ts";
import type { Exchange } from "../workspace/exchange/exchange.ts";
import type { PreparedWorkspace, WorkspaceKey, Workspaces } from "../workspace/workspace.ts";

interface RemoteWorkspacesOptions {
  fleet: Fleet;
  workspaces: Workspaces;
  checks: CheckRunner;
  exchange: Exchange;
}

const MAX_PATH = 4096;

type Missing = { missing: string[] };

const keyOf = ({ runId, name, attempt }: WorkspaceKey): string => `${runId}/${name}/${attempt}`;

export function withRemoteWorkspaces(options: RemoteWorkspacesOptions): {
  workspaces: Workspaces;
  checks: CheckRunner;
} {
  const { fleet, workspaces: local, checks, exchange } = options;
  const shared = new SharedWork(fleet, exchange);
  /** Maps the path of a workspace on a host to the key of its attempt, because a `CheckRunner` gets only a path. */
  const byPath = new Map<string, string>();

  /** Paths of workspaces on this machine, which no host can claim. */
  const localPaths = new Set<string>();

  /** A host names the path. With that of another attempt it would answer the checks of that attempt. */
  function rememberPath(path: string, key: string): void {
    const other = byPath.get(path);
    if (path.length > MAX_PATH || path.includes("\0") || localPaths.has(path) || (other ?? key) !== key)
      throw new TuttiError(
        "workspace_failed",
        `The host of "${key}" reported "${path.slice(0, 200)}", which cannot be its workspace. Retry the task.`,
      );
    byPath.set(path, key);
  }

  async function prepareHere(...args: Parameters<Workspaces["prepare"]>): Promise<PreparedWorkspace> {
    const prepared = await local.prepare(...args);
    localPaths.add(prepared.path);
    byPath.delete(prepared.path);
    return prepared;
  }

  async function call<Op extends keyof typeof REPLIES>(
    key: string,
    name: string,
    request: HostRequest & { op: Op },
  ): Promise<z.infer<(typeof REPLIES)[Op]>> {
    const reply = await fleet.call(key, name, request);
    return REPLIES[request.op].parse(reply) as z.infer<(typeof REPLIES)[Op]>;
  }

  /** Repeats `send` with a bundle of `commit` if the host lacks that commit. */
  async function withBundle<T extends object>(
    cwd: string,
    commit: string,
    send: (bundle: { data: string; without: string[] } | null) => Promise<T | Missing>,
  ): Promise<T> {
    const first = await send(null);
    if (!("missing" in first)) return first;
    const data = await exchange.pack(cwd, [commit], first.missing);
    const second = data === null ? first : await send({ data, without: first.missing });
    if (!("missing" in second)) return second;
    throw new TuttiError(
      "workspace_failed",
      `The commit ${commit} did not reach the host of the session. Retry the task.`,
    );
  }

  async function mustHaveRemote(cwd: string): Promise<string> {
    const remote = await exchange.remoteOf(cwd);
    if (remote !== null) return remote;
    throw new TuttiError(
      "repository_unusable",
      `The repository "${cwd}" has no remote from which worker hosts could clone it. Start the run in a clone.`,
    );
  }

  /** Throws if a host is ready but cannot get `facts.head`, at which a run would start. */
  async function mustReachHosts<T extends { head: string }>(cwd: string, facts: T): Promise<T> {
    if (!(await fleet.findsReadyHost())) return facts;
    const remote = await mustHaveRemote(cwd);
    if (await exchange.isInRemote(cwd, remote, facts.head)) return facts;
    throw new TuttiError(
      "repository_unusable",
      `The commit ${facts.head} is in no branch of the remote of "${cwd}", so worker hosts cannot get it. Push it first.`,
    );
  }

  const refPrefix = (runId: string): string => `refs/tutti/${pathName(runId)}/`;

  async function removeRemote(cwd: string, key: string, runId: string): Promise<void> {
    if (await fleet.withdraw(key)) return;
    const removal = fleet.ahead.takeRemoval(key) ?? ignoreLost(fleet.call(key, "remove", { op: "remove" }));
    const reply = REPLIES.remove.nullable().parse(await removal);
    if (reply?.parcel) await exchange.receive(cwd, await exchange.remoteOf(cwd), reply.parcel, refPrefix(runId));
    await fleet.finish(key, "it was closed after its work");
  }

  const workspaces: Workspaces = {
    ...local,
    locate: async (cwd) => mustReachHosts(cwd, await local.locate(cwd)),
    inspect: async (cwd) => mustReachHosts(cwd, await local.inspect(cwd)),
    async prepare(cwd, key, start, files) {
      if (!key.sessionId || !(await fleet.isPlacedOnHost(key.sessionId))) return prepareHere(cwd, key, start, files);
      if ([files?.copy, files?.link].some((names) => names !== undefined && names.length > 0))
        throw new TuttiError(
          "setup_failed",
          "The template brings files of your folder into workspaces, which worker hosts do not have. Use set-up commands instead.",
        );
      const { prefix } = await local.locate(cwd);
      const repository = await mustHaveRemote(cwd);
      const announced = fleet.ahead.sessions.get(keyOf(key));
      const request = { op: "prepare" as const, key, start, prefix, repository, only: files?.only };
      const open = announced && { open: announced.spec };
      const { isOpen = false, ...prepared } = await withBundle<PreparedWorkspace & { isOpen?: true }>(
        cwd,
        start,
        (bundle) => call(keyOf(key), bundle ? "prepare with commits" : "prepare", { ...request, ...open, bundle }),
      );
      if (announced) announced.isOpen = isOpen;
      rememberPath(prepared.path, keyOf(key));
      return prepared;
    },
    // The host of an attempt is unknown before it starts.
    prepareAhead: async (cwd, key, commit) => (fleet.hasReadyHost ? null : local.prepareAhead(cwd, key, commit)),
    async access(cwd, key) {
      if (!fleet.isOnHost(keyOf(key))) return local.access(cwd, key);
      const { readable, writable, hidden } = await call(keyOf(key), "access", { op: "access" });
      return { ...(readable && { readable }), ...(writable && { writable }), ...(hidden && { hidden }) };
    },
    async move(cwd, key, to, { discard } = { discard: false }) {
      if (!fleet.isOnHost(keyOf(key))) return local.move(cwd, key, to, { discard });
      await withBundle<{ moved: true }>(cwd, to, (bundle) =>
        call(keyOf(key), `move ${randomUUID()}`, { op: "move", to, discard, bundle }),
      );
    },
    async snapshot(cwd, key, start, message, scope = []) {
      const ref = attemptRef(key.runId, key.name, key.attempt);
      if (!fleet.isOnHost(keyOf(key))) {
        const taken = await local.snapshot(cwd, key, start, message, scope);
        if (taken.commit !== start) await shared.share(cwd, key.runId, { [ref]: taken.commit });
        return taken;
      }
      const request = { op: "snapshot" as const, start, message, scope };
      const committed = fleet.ahead.takeCommit(keyOf(key), { start, message, scope });
      const { parcel, outside, ...taken } = committed
        ? REPLIES.snapshot.parse(committed)
        : await call(keyOf(key), `snapshot ${randomUUID()}`, request);
      await exchange.receive(cwd, await exchange.remoteOf(cwd), parcel, refPrefix(key.runId));
      const isPushed = parcel.bundle === null;
      if (taken.commit !== start) await shared.share(cwd, key.runId, { [ref]: taken.commit }, isPushed);
      return { ...taken, ...(outside && { outside }) };
    },
    async findUnproven(cwd, key, snapshot, claimed) {
      if (!fleet.isOnHost(keyOf(key))) return local.findUnproven(cwd, key, snapshot, claimed);
      const { commit, files } = snapshot;
      const request = { op: "findUnproven" as const, snapshot: { commit, files }, claimed };
      return call(keyOf(key), `findUnproven ${randomUUID()}`, request);
    },
    async saveWork(cwd, key, start, message) {
      if (!fleet.isOnHost(keyOf(key))) return local.saveWork(cwd, key, start, message);
      return (await call(keyOf(key), `saveWork ${randomUUID()}`, { op: "saveWork", start, message })).commit;
    },
    async openBranch(cwd, runId, head, pending = []) {
      const commits = pending.map(({ commit }) => commit).filter((commit) => !commit.startsWith("refs/"));
      await shared.receive(cwd, runId, [head, ...commits]);
      return local.openBranch(cwd, runId, head, pending);
    },
    async integrate(cwd, runId, head, merge) {
      const integration = await local.integrate(cwd, runId, head, merge);
      if (integration.ok && integration.commit !== head) await shared.shareHead(cwd, runId, integration.commit);
      return integration;
    },
    async forget(...args) {
      shared.forget(args[1]);
      return local.forget(...args);
    },
    async remove(cwd, key) {
      if (!fleet.isOnHost(keyOf(key))) return local.remove(cwd, key);
      await removeRemote(cwd, keyOf(key), key.runId);
    },
    async release(cwd, runId, recorded) {
      const open = await fleet.openSessions(runId);
      await Promise.all((open ?? []).map(({ key }) => removeRemote(cwd, key, runId)));
      const moved = await local.release(cwd, runId, recorded);
      const remote = fleet.hasRun(runId) && recorded ? await exchange.remoteOf(cwd) : null;
      // A remote that rejects the branch leaves the result in the server's repository.
      if (remote !== null)
        await exchange.push(cwd, remote, { [`refs/heads/tutti/${pathName(runId)}`]: recorded!.head });
      return moved;
    },
  };

  return {
    workspaces,
    checks: {
      async detect(cwd) {
        const key = byPath.get(cwd);
        if (key === undefined) return checks.detect(cwd);
        const found = await call(key, `detectChecks ${randomUUID()}`, { op: "detectChecks" });
        return found.map(({ name, run, timeout }) => ({ name, run, ...(timeout !== undefined && { timeout }) }));
      },
      async run(command, { cwd, timeoutMs, signal, sandbox, ...about }) {
        const key = byPath.get(cwd);
        if (key === undefined) return checks.run(command, { cwd, timeoutMs, signal, sandbox, ...about });
        const id = randomUUID();
        const abort = () => void fleet.call(key, `abortCheck ${id}`, { op: "abortCheck", id }).catch(() => {});
        signal.addEventListener("abort", abort, { once: true });
        try {
          return await call(key, `runCheck ${id}`, { op: "runCheck", command, timeoutMs, id, sandbox });
        } finally {
          signal.removeEventListener("abort", abort);
        }
      },
    },
  };
}
