// Identifies and ends processes of other programs.
//
// The system reuses process ids, so a `ProcessIdentity` is pid, start time and boot id. A child can leave its process
// group but inherits marks of its parent, so `sweep` kills by marks.
import { processTable } from "./process-table.ts";
import { bootId } from "../durable-file.ts";

export interface ProcessIdentity {
  pid: number;
  startTime: string;
  bootId: string;
}

/** Null if the process does not exist or is a zombie. */
export const identify = (pid: number): ProcessIdentity | null => identifyAll([pid])[0] ?? null;

/** Leaves out processes that are not alive. */
export const identifyAll = (pids: readonly number[]): ProcessIdentity[] =>
  processTable()
    .read(pids)
    .map(({ pid, startTime }) => ({ pid, startTime, bootId: bootId() }));

export function isAlive(identity: ProcessIdentity): boolean {
  const now = identify(identity.pid);
  return (
    now !== null && now.bootId === identity.bootId && processTable().isSameStart(now.startTime, identity.startTime)
  );
}

export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  signalProcess(-pid, signal);
}

export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

export const findMarked = (name: string, value: string): number[] => processTable().findMarked(name, value);

/**
 * Kills what `find` returns until it finds nothing twice in a row: a process that is being forked shows up late. A smaller
 * number of `looks` is enough if the first of them finds nothing.
 */
export async function sweep(find: () => number[], sleep: (ms: number) => Promise<void>, looks = 2): Promise<void> {
  for (let left = looks; left > 0;) {
    const killed = find().filter(killIfAllowed);
    left = killed.length === 0 ? left - 1 : 2;
    if (left > 0) await sleep(killed.length === 0 ? 5 : 20);
  }
}

/** False for a process of another user, for example one that an agent started with `sudo`. */
function killIfAllowed(pid: number): boolean {
  try {
    signalProcess(pid, "SIGKILL");
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
    return false;
  }
}
