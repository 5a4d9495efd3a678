// Workspaces of one engine on a repository in memory. Every operation is idempotent, as `Workspaces` requires.
import type { Effects } from "./effects.ts";
import type { Machine } from "./machine.ts";
import { hash, type Random } from "./random.ts";
import type { Folder, Repository } from "./repository.ts";
import type { Stage } from "./stage.ts";
import { TuttiError } from "../../src/schema/error.ts";
import { attemptRef, runBranch } from "../../src/schema/ids.ts";
import type {
  Favour,
  RepositoryFacts,
  WorkspaceSnapshot,
  WorkspaceKey,
  Workspaces,
} from "../../src/workspace/workspace.ts";

const ROOT = "/repo";
const folderPath = ({ runId, name, attempt }: WorkspaceKey): string => `/worktrees/${runId}/${name}-${attempt}`;

interface Parts {
  stage: Stage;
  repository: Repository;
  machine: Machine;
  effects: Effects;
  random: Random;
}

export function simWorkspaces(parts: Parts): Workspaces {
  const { repository, effects } = parts;
  const act = <T>(label: string, effect: () => T): Promise<T> =>
    effects.act(label, () => {
      breakDown(parts, label);
      return effect();
    });
  const facts = (): RepositoryFacts => {
    return { root: ROOT, prefix: "", head: repository.head, branch: "main", dirty: false };
  };
  return {
    inspect: () => effects.act("inspect", facts),
    locate: () => effects.act("inspect", facts),
    acceptPrograms: async () => {},
    combine: (_, __, base, commits, message, favour) =>
      act("combine", () => combine(repository, base, commits, message, favour)),
    access: async () => ({}),
    prepare: (_, key, start) =>
      act(`prepare ${folderPath(key)}`, () => {
        const path = folderPath(key);
        const folder = repository.folders.get(path);
        const isStale = parts.stage.has("preparation-not-moved");
        const movedFrom = folder?.isAhead ? { movedFrom: folder.start } : {};
        if (!folder || (folder.isAhead && !isStale)) repository.folders.set(path, folderAt(repository, key, start));
        else folder.isAhead = false;
        return { path, ...movedFrom };
      }),
    prepareAhead: (_, key, commit) =>
      act(`prepare ${folderPath(key)} ahead`, () => {
        const path = folderPath(key);
        if (repository.folders.has(path)) return path;
        repository.folders.set(path, { ...folderAt(repository, key, commit), isAhead: true });
        parts.stage.count("workspaces prepared ahead");
        return path;
      }),
    move: (_, key, to) =>
      act(`move ${folderPath(key)}`, () => {
        const folder = repository.folders.get(folderPath(key));
        if (!folder) throw new TuttiError("workspace_failed", "there is no workspace to move");
        keep(parts, folder, `${refOf(key)}-before-${to}`);
        repository.folders.set(folder.path, { ...folder, start: to, files: { ...repository.get(to).tree } });
      }),
    snapshot: (_, key, start, message) =>
      act(`snapshot ${folderPath(key)}`, () => snapshot(parts, key, start, message)),
    findUnproven: (_, key, { commit, files }, claimed) =>
      effects.act(`check the files of ${folderPath(key)}`, () => {
        const { tree } = repository.get(commit);
        const doubtful = claimed.filter((name) => !files.includes(name));
        return {
          missing: doubtful.filter((name) => !Object.hasOwn(tree, name)),
          unchanged: doubtful.filter((name) => Object.hasOwn(tree, name)),
        };
      }),
    saveWork: (_, key, start, message) => act(`save ${folderPath(key)}`, () => saveWork(parts, key, start, message)),
    treeOf: (_, commit) => act("tree", () => treeOf(repository, commit)),
    adopt: (_, key, start, result, message) =>
      act(`adopt ${result} for ${folderPath(key)}`, () => adopt(repository, key, start, result, message)),
    openBranch: (_, runId, head) =>
      act(`open branch of ${runId}`, () => {
        repository.setBranch(runBranch(runId), head);
        return null;
      }),
    integrate: (_, runId, head, { commit, message, favour }) =>
      act(`merge ${commit} into ${runId}`, () => ({
        moved: null,
        ...integrate(parts, runId, head, commit, message, favour),
      })),
    changesSince: async () => ({ state: { refs: new Map(), config: "", files: new Map() }, changes: null }),
    changedFiles: (_, from, to) => effects.act("changed files", () => repository.changed(from, to)),
    // No simulated engine compares names.
    readText: async () => null,
    // No simulated client compares commits.
    diff: async () => null,
    // No simulated client takes a result.
    mergeResult: async (_, __, head) => ({ branch: "main", from: head, to: head }),
    findResult: async (_, __, head) => head,
    dropBranch: async () => null,
    forget: async () => {},
    remove: (_, key) =>
      act(`remove ${folderPath(key)}`, () => {
        const folder = repository.folders.get(folderPath(key));
        if (folder) removeFolder(parts, folder, refOf(key));
      }),
    close: async () => {},
    release: (_, runId, recorded) =>
      act(`release ${runId}`, () => {
        const left = [...repository.folders.values()].filter((folder) => folder.runId === runId);
        if (parts.stage.has("release-forgets-one")) left.pop();
        const isForgotten = ({ isAhead }: Folder): boolean => isAhead && parts.stage.has("preparation-left");
        for (const folder of left.filter((each) => !isForgotten(each)))
          removeFolder(parts, folder, `refs/tutti/${runId}/released/${folder.path}`);
        if (recorded && repository.branches.has(runBranch(runId)))
          repository.setBranch(runBranch(runId), recorded.head);
        return [];
      }),
  };
}

const folderAt = (repository: Repository, key: WorkspaceKey, start: string): Folder => ({
  runId: key.runId,
  path: folderPath(key),
  start,
  files: { ...repository.get(start).tree },
  isAhead: false,
});

type IntegrationWithoutReport = { ok: true; commit: string; settled: string[] } | { ok: false; files: string[] };

const refOf = ({ runId, name, attempt }: WorkspaceKey): string => attemptRef(runId, name, attempt);

/** Git fails occasionally, before it has changed anything. */
function breakDown({ stage, random }: Parts, label: string): void {
  if (stage.calm || !random.chance(0.002)) return;
  stage.count("failed git operations");
  throw new TuttiError("git_failed", `git failed: ${label}`);
}

export function combine(
  repository: Repository,
  base: string,
  commits: readonly string[],
  message: string,
  favour?: Favour,
) {
  let at = base;
  for (const commit of commits) {
    if (repository.holds(at, commit)) continue;
    if (repository.holds(commit, at)) {
      at = commit;
      continue;
    }
    const { tree, collided } = repository.merge(at, commit);
    if (collided.length > 0 && favour === undefined) return { ok: false as const, files: collided };
    if (favour === "last") for (const path of collided) takeTheirs(repository, tree, commit, path);
    at = repository.commit(tree, [at, commit], message);
  }
  return { ok: true as const, commit: at };
}

const isSame = (one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([path, content]) => other[path] === content);

function saveWork({ stage, repository }: Parts, key: WorkspaceKey, start: string, message: string): string | null {
  const folder = repository.folders.get(folderPath(key));
  if (!folder || isSame(folder.files, repository.get(start).tree)) return null;
  const commit = repository.commit(folder.files, [start], message);
  repository.refs.set(`${refOf(key)}-saved`, commit);
  stage.count("saved work");
  return commit;
}

function snapshot({ stage, repository }: Parts, key: WorkspaceKey, start: string, message: string): WorkspaceSnapshot {
  const folder = repository.folders.get(folderPath(key));
  const kept = repository.refs.get(refOf(key));
  if (!folder) {
    if (kept === undefined)
      throw new TuttiError("workspace_failed", "the workspace no longer exists and has no snapshot");
    return { commit: kept, files: repository.changed(start, kept) };
  }
  const same = isSame(folder.files, repository.get(start).tree) || stage.has("snapshot-without-work");
  const commit = same ? start : repository.commit(folder.files, [start], message);
  repository.setRef(refOf(key), commit);
  return { commit, files: repository.changed(start, commit) };
}

export const treeOf = (repository: Repository, commit: string): string => {
  const text = JSON.stringify(repository.get(commit).tree);
  return `t${hash(text).toString(36)}${hash(`${text}!`).toString(36)}`;
};

function adopt(
  repository: Repository,
  key: WorkspaceKey,
  start: string,
  result: string,
  message: string,
): WorkspaceSnapshot | null {
  if (!repository.commits.has(result)) return null;
  const { tree } = repository.get(result);
  const same = isSame(tree, repository.get(start).tree);
  const onTop = () => (repository.holds(result, start) ? result : repository.commit(tree, [start], message));
  const commit = same ? start : onTop();
  repository.setRef(refOf(key), commit);
  return { commit, files: repository.changed(start, commit) };
}

function integrate(
  parts: Parts,
  runId: string,
  head: string,
  commit: string,
  message: string,
  favour?: Favour,
): IntegrationWithoutReport {
  const { stage, repository } = parts;
  const branch = runBranch(runId);
  repository.setBranch(branch, head);
  if (repository.holds(head, commit) && !stage.has("merged-twice")) return { ok: true, commit: head, settled: [] };
  const { tree, collided } = repository.merge(head, commit);
  if (collided.length > 0) stage.count("merges that collide");
  const blind = stage.has("conflict-overlooked");
  if (collided.length > 0 && favour === undefined && !blind) return { ok: false, files: collided };
  if (favour === "last" || blind) for (const path of collided) takeTheirs(repository, tree, commit, path);
  const merged = repository.commit(tree, [head, commit], message);
  if (stage.has("merge-lost") && parts.random.chance(0.2)) return { ok: true, commit: head, settled: [] };
  repository.setBranch(branch, merged);
  return { ok: true, commit: merged, settled: blind ? [] : collided };
}

function takeTheirs(repository: Repository, tree: Record<string, string>, commit: string, path: string): void {
  const content = repository.get(commit).tree[path];
  if (content === undefined) delete tree[path];
  else tree[path] = content;
}

/** Commits files that no ref reaches to `ref`, before the folder is removed. */
function keep({ stage, repository }: Parts, folder: Folder, ref: string): void {
  const added = Object.values(folder.files).filter((content) => !repository.isHeld(content));
  if (added.length === 0 || stage.has("workspace-gone-before-snapshot")) return;
  repository.setRef(ref, repository.commit(folder.files, [folder.start], `What was left in ${folder.path}`));
}

function removeFolder(parts: Parts, folder: Folder, ref: string): void {
  const { stage, repository, machine } = parts;
  keep(parts, folder, `${ref}-left`);
  const lost = Object.entries(folder.files).filter(([, content]) => !repository.isHeld(content));
  stage.require(lost.length === 0, "I14", () => `${folder.path} went with ${lost.map(([path]) => path).join(", ")}`);
  const worker = machine.workingIn(folder.path);
  stage.require(worker === null, "I13", () => `${folder.path} went while ${worker} worked in it`);
  repository.folders.delete(folder.path);
}
