// Workspaces without git: every operation completes at once, and no task changes a file.
import type { Workspaces } from "../../src/workspace/workspace.ts";

export const NO_OP_WORKSPACES: Workspaces = {
  inspect: async (cwd) => ({ root: cwd, prefix: "", head: "base", branch: "main", dirty: false }),
  locate: async (cwd) => ({ root: cwd, prefix: "", head: "base" }),
  combine: async (_, __, base) => ({ ok: true, commit: base }),
  access: async () => ({}),
  prepare: async (cwd) => ({ path: cwd }),
  move: async () => {},
  snapshot: async (_, { name, attempt }) => ({ commit: `${name}-${attempt}`, files: [] }),
  findUnproven: async () => ({ missing: [], unchanged: [] }),
  saveWork: async () => null,
  treeOf: async (_, commit) => `tree-${commit}`,
  adopt: async () => null,
  openBranch: async () => null,
  integrate: async (_, __, ___, { commit }) => ({ ok: true, commit: `merged-${commit}`, settled: [], moved: null }),
  changesSince: async () => ({ state: { refs: new Map(), config: "" }, changes: null }),
  changedFiles: async () => [],
  readText: async () => null,
  diff: async () => null,
  mergeResult: async (_, __, head) => ({ branch: "main", from: head, to: head }),
  findResult: async (_, __, head) => head,
  dropBranch: async () => null,
  forget: async () => {},
  remove: async () => {},
  release: async () => [],
  close: async () => {},
};
