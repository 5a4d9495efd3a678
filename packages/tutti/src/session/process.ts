// Identifies and ends processes of other programs.
//
// The system reuses process ids, so a `ProcessIdentity` is pid, start time and boot id. A child can leave its process
// group but inherits marks of its parent, so `sweep` kills by marks.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { bootId } from "../durable-file.ts";

export interface ProcessIdentity {
  pid: number;
  startTime: string;
  bootId: string;
}

export function identify(pid: number): ProcessIdentity | null {
  const startTime = readStartTime(pid);
  return startTime === null ? null : { pid, startTime, bootId: bootId() };
}

export function isAlive(identity: ProcessIdentity): boolean {
  const now = identify(identity.pid);
  return now !== null && now.startTime === identity.startTime && now.bootId === identity.bootId;
}

/** Null if the process does not exist or is a zombie. */
function readStartTime(pid: number): string | null {
  if (process.platform !== "linux") return readStartTimeByPs(pid);
  try {
    // The second field is the program's name in parentheses and may contain any character, so count from its end.
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? null : fields[19]!;
  } catch {
    return null;
  }
}

function readStartTimeByPs(pid: number): string | null {
  try {
    return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim() || null;
  } catch {
    return null;
  }
}

/** Ignores a group that is already gone. */
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

/** All other live processes with `name=value` in their environment. Always empty outside Linux. */
export function findMarked(name: string, value: string): number[] {
  const mark = Buffer.from(`${name}=${value}\0`);
  return findProcesses((pid) => hasVariable(pid, mark));
}

/** All other live processes for which `test` holds. Always empty outside Linux. */
export function findProcesses(test: (pid: number) => boolean): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => pid !== process.pid && test(pid) && readStartTime(pid) !== null);
}

function hasVariable(pid: number, mark: Buffer): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`);
    const at = environment.indexOf(mark);
    return at === 0 || (at > 0 && environment[at - 1] === 0);
  } catch {
    return false;
  }
}

/** Kills what `find` returns until it finds nothing twice in a row: a process that is being forked shows up late. */
export async function sweep(find: () => number[], sleep: (ms: number) => Promise<void>): Promise<void> {
  for (let quiet = 0; quiet < 2;) {
    const killed = find().filter(killIfAllowed);
    quiet = killed.length === 0 ? quiet + 1 : 0;
    if (quiet < 2) await sleep(killed.length === 0 ? 5 : 20);
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
