// The commands of an agent: the shells that it has started since it became ready, with all their children, and
// processes that have left it. Its other children, such as servers for its tools, are part of the agent.
import { readFileSync } from "node:fs";
import { findSessionProcesses } from "./session-processes.ts";
import { identify, isAlive, signalProcess, type ProcessIdentity } from "../process.ts";

const SHELLS = new Set(["sh", "bash", "dash", "zsh", "ksh", "fish", "ash"]);

/** The processes of the agent itself, by pid. */
export type OwnProcesses = ReadonlyMap<number, ProcessIdentity>;

export function findOwnProcesses(sessionId: string): OwnProcesses {
  return new Map(identities(findSessionProcesses(sessionId)).map((identity) => [identity.pid, identity]));
}

export function findCommands(sessionId: string, own: OwnProcesses): ProcessIdentity[] {
  const isOwn = (pid: number): boolean => {
    const known = own.get(pid);
    return known !== undefined && isAlive(known);
  };
  /** Follows the parents up to a shell or a process of the agent. */
  const isCommand = (pid: number): boolean => {
    for (let at = pid; !isOwn(at);) {
      const found = readProcess(at);
      if (found === null || SHELLS.has(found.name)) return true;
      at = found.parent;
    }
    return false;
  };
  return identities(findSessionProcesses(sessionId).filter((pid) => pid !== process.pid && isCommand(pid)));
}

/** Sends SIGTERM, and SIGKILL to those that are left. Processes that start meanwhile are not affected. */
export async function endCommands(
  commands: readonly ProcessIdentity[],
  sleep: (ms: number) => Promise<unknown>,
  graceMs: number,
): Promise<void> {
  for (const { pid } of commands) signalProcess(pid, "SIGTERM");
  if (commands.length > 0) await sleep(graceMs);
  for (const identity of commands) if (isAlive(identity)) signalProcess(identity.pid, "SIGKILL");
}

const identities = (pids: readonly number[]): ProcessIdentity[] => pids.flatMap((pid) => identify(pid) ?? []);

/** Null for the first process of the system and for one that has ended. */
function readProcess(pid: number): { name: string; parent: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name is in parentheses and may contain any character.
    const [from, to] = [stat.indexOf("("), stat.lastIndexOf(")")];
    const parent = Number(stat.slice(to + 2).split(" ")[1]);
    return parent > 0 ? { name: stat.slice(from + 1, to), parent } : null;
  } catch {
    return null;
  }
}
