// Processes of other programs: who they are, and how to end all of them.
//
// A process id alone is no identity, because the system uses it again; pid, start time and boot id together are. And a
// process group is no fence, because a child can leave it; what every descendant inherits is its environment, so each
// agent's environment carries a mark by which whatever is left can be found.
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

/** Null when there is no such process; a zombie has ended and counts as none. */
function readStartTime(pid: number): string | null {
  if (process.platform !== "linux") return readStartTimeByPs(pid);
  try {
    // The second field is the program's name in brackets and may hold anything, so the fields are counted from its end.
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

/** Sends a signal to a process group; a group that is already gone is fine. */
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

/** Every living process whose environment holds `NAME=value`, other than this one. Linux only; elsewhere none is found. */
export function findMarked(name: string, value: string): number[] {
  if (process.platform !== "linux") return [];
  const mark = Buffer.from(`${name}=${value}\0`);
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => pid !== process.pid && holds(pid, mark) && readStartTime(pid) !== null);
}

function holds(pid: number, mark: Buffer): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`);
    const at = environment.indexOf(mark);
    return at === 0 || (at > 0 && environment[at - 1] === 0);
  } catch {
    return false;
  }
}

/** Kills what carries the mark until nothing does; processes that are just being forked are found in a later round. */
export async function sweep(name: string, value: string, sleep: (ms: number) => Promise<void>): Promise<void> {
  for (let quiet = 0; quiet < 2;) {
    const found = findMarked(name, value);
    for (const pid of found) signalProcess(pid, "SIGKILL");
    quiet = found.length === 0 ? quiet + 1 : 0;
    if (quiet < 2) await sleep(found.length === 0 ? 5 : 20);
  }
}
