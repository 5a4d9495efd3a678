// `findSessionProcesses` follows two marks, which every child inherits. `TUTTI_SESSION_KEY` in the environment is lost
// by a command such as `env -i`. The soft limit for file locks is lost only by a process that sets it: it survives
// `exec`, `setsid` and an empty environment, and Linux has ignored its value since 2.4.25, so any number can be written
// there. Other systems have no such limit.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { sweep } from "../process.ts";
import { processTable } from "../process-table.ts";
import { hasProc } from "../../durable-file.ts";

/**
 * `LOWEST_LIMIT` is far above any limit in use, so that no other process has the number by chance. A keeper without a
 * session has it.
 */
export const LOWEST_LIMIT = 2 ** 40;

/** `lockLimitOf` marks the processes of a session, its keeper included. */
export const lockLimitOf = (sessionId: string): number =>
  LOWEST_LIMIT + createHash("sha256").update(sessionId).digest().readUIntBE(0, 6);

/** Sets the limit of the argument `$1` in `sh`. Shells name the limit differently, and some not at all. */
export const SET_LOCK_LIMIT = 'ulimit -S -w "$1" 2>/dev/null || ulimit -S -x "$1" 2>/dev/null';

/**
 * Marks this process, which the shell started without a session. Node cannot set limits, so `prlimit` does. Returns false
 * if the limit cannot be set on a system that has it.
 */
export function setLockLimit(limit: number): boolean {
  if (!hasProc()) return true;
  return spawnSync("prlimit", limitArgs(limit), { stdio: "ignore" }).status === 0;
}

/** Like `setLockLimit`, but lets the caller work meanwhile. */
export function setLockLimitAside(limit: number): Promise<boolean> {
  if (!hasProc()) return Promise.resolve(true);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const prlimit = spawn("prlimit", limitArgs(limit), { stdio: "ignore" });
  prlimit.once("error", () => resolve(false));
  prlimit.once("exit", (code) => resolve(code === 0));
  return promise;
}

const limitArgs = (limit: number): string[] => [`--pid=${process.pid}`, `--locks=${limit}:`];

export function findSessionProcesses(sessionId: string): number[] {
  return processTable().findMarked("TUTTI_SESSION_KEY", sessionId, String(lockLimitOf(sessionId)));
}

interface SessionSweep {
  /** Not killed. */
  keeper?: number | null;
  /** The keeper has swept before. */
  isRepeated?: boolean;
}

/** `sweepSession` kills the processes of the session, except `keeper` and the caller, until none is left. */
export async function sweepSession(
  sessionId: string,
  sleep: (ms: number) => Promise<void>,
  { keeper = null, isRepeated = false }: SessionSweep = {},
): Promise<void> {
  await sweep(() => findSessionProcesses(sessionId).filter((pid) => pid !== keeper), sleep, isRepeated ? 1 : 2);
}
