// Workspaces without git: every operation completes at once, and no task changes a file.
import { hash } from "node:crypto";
import type { Workspaces } from "../../../src/workspace/workspace.ts";

/** A server accepts only commits of this form from its hosts. */
const commitOf = (name: string): string => hash("sha1", name);
const BASE = commitOf("base");

export const NO_OP_WORKSPACES: Workspaces = {
  inspect: async (cwd) => ({ root: cwd, prefix: "", head: BASE, branch: "main", dirty: false }),
  locate: async (cwd) => ({ root: cwd, prefix: "", head: BASE }),
  acceptPrograms: async () => {},
  combine: async (_, __, base) => ({ ok: true, commit: base }),
  access: async () => ({}),
  // A server rejects the path of another attempt from a host.
  prepare: async (cwd, { runId, name, attempt }) => ({ path: `${cwd}/${runId}/${name}-${attempt}` }),
  prepareAhead: async () => null,
  move: async () => {},
  snapshot: async (_, { name, attempt }) => ({ commit: commitOf(`${name}-${attempt}`), files: [] }),
  findUnproven: async () => ({ missing: [], unchanged: [] }),
  saveWork: async () => null,
  treeOf: async (_, commit) => `tree-${commit}`,
  adopt: async () => null,
  openBranch: async () => null,
  integrate: async (_, __, ___, { commit }) => ({
    ok: true,
    commit: commitOf(`merged-${commit}`),
    settled: [],
    moved: null,
  }),
  changesSince: async () => ({ state: { refs: new Map(), config: "", files: new Map() }, changes: null }),
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
