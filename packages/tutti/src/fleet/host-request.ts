// `HostRequest` is a request of a server to the host of an attempt, and `REPLIES` has the form of each reply.
import { z } from "zod";
import type { CheckCommand } from "../schema/template.ts";
import type { SessionSandbox, SessionSpec, Turn } from "../session/session.ts";
import type { WorkspaceKey } from "../workspace/workspace.ts";

export type HostRequest =
  /**
   * `prefix` is the run's folder below the top of the repository. `repository` is used by hosts without `--repository`.
   */
  | {
      op: "prepare";
      key: WorkspaceKey;
      start: string;
      prefix: string;
      repository: string;
      bundle: Bundle | null;
      only?: readonly string[] | undefined;
      /** The session to open in the workspace. */
      open?: Omit<SessionSpec, "cwd"> | undefined;
    }
  | { op: "access" }
  | { op: "open"; spec: Omit<SessionSpec, "cwd"> }
  | { op: "deliver"; turn: Turn }
  | { op: "answer"; askId: string; text: string }
  | { op: "steer"; turn: number; id: string; text: string }
  | { op: "interrupt"; turn: number }
  | { op: "end" }
  | { op: "move"; to: string; discard: boolean; bundle: Bundle | null }
  | { op: "snapshot"; start: string; message: string; scope: readonly string[] }
  | { op: "findUnproven"; snapshot: { commit: string; files: string[] }; claimed: readonly string[] }
  | { op: "saveWork"; start: string; message: string }
  | { op: "detectChecks" }
  | {
      op: "runCheck";
      command: CheckCommand["run"];
      timeoutMs: number;
      id: string;
      sandbox?: SessionSandbox | undefined;
    }
  | { op: "abortCheck"; id: string }
  /** With `close`, the session is closed first instead of ended. */
  | { op: "remove"; close?: true };

/** Commits that the host may lack. It has those of `without`. */
interface Bundle {
  data: string;
  without: string[];
}

const commit = z.string().regex(/^[0-9a-f]{40,64}$/);

const Parcel = z.object({ refs: z.record(z.string(), commit), start: commit, bundle: z.string().nullable() });

/** `missing` lists commits that the host has, if it lacks the requested one. */
const Missing = z.object({ missing: z.array(commit) });

/** A host is another machine, so the server validates its replies with `REPLIES`. */
export const REPLIES = {
  prepare: z.union([
    Missing,
    z.object({ path: z.string(), isSparse: z.literal(true).optional(), isOpen: z.literal(true).optional() }),
  ]),
  access: z.object({
    readable: z.array(z.string()).optional(),
    writable: z.array(z.string()).optional(),
    hidden: z.array(z.string()).optional(),
  }),
  move: z.union([Missing, z.object({ moved: z.literal(true) })]),
  snapshot: z.object({
    commit,
    files: z.array(z.string()),
    outside: z.array(z.string()).optional(),
    parcel: Parcel,
  }),
  findUnproven: z.object({ missing: z.array(z.string()), unchanged: z.array(z.string()) }),
  saveWork: z.object({ commit: commit.nullable() }),
  detectChecks: z.array(z.object({ name: z.string(), run: z.string(), timeout: z.number().optional() })),
  runCheck: z.object({ exitCode: z.number(), output: z.string() }),
  remove: z.object({ parcel: Parcel.nullable() }),
} as const;
