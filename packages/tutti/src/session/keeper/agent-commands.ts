// `findCommands` finds the shells that an agent has started since it became ready, with all their children, and
// processes that have left it. Its other children, such as servers for its tools, are part of the agent.
import { findSessionProcesses } from "./session-processes.ts";
import { identifyAll, isAlive, signalProcess, type ProcessIdentity } from "../process.ts";
import { processTable } from "../process-table.ts";

const SHELLS = new Set(["sh", "bash", "dash", "zsh", "ksh", "fish", "ash"]);

/** `OwnProcesses` are those of the agent itself, by pid. */
export type OwnProcesses = ReadonlyMap<number, ProcessIdentity>;

export function findOwnProcesses(sessionId: string): OwnProcesses {
  return new Map(identifyAll(findSessionProcesses(sessionId)).map((identity) => [identity.pid, identity]));
}

/** `sandbox` is the process of bubblewrap, if there is one. Its child adopts processes that have left the agent. */
export function findCommands(sessionId: string, own: OwnProcesses, sandbox: number | null = null): ProcessIdentity[] {
  const isOwn = (pid: number): boolean => {
    const known = own.get(pid);
    return known !== undefined && isAlive(known);
  };
  const isReaper = (pid: number): boolean => isOwn(pid) && processTable().read([pid])[0]?.parent === sandbox;
  /** `isCommand` follows the parents up to a shell or a process of the agent. */
  const isCommand = (pid: number): boolean => {
    for (let at = pid; !isOwn(at);) {
      const [found] = processTable().read([at]);
      if (sandbox !== null && found?.parent !== undefined && isReaper(found.parent)) return true;
      // The first process of the system has no parent.
      if (found === undefined || found.parent === 0 || SHELLS.has(found.name)) return true;
      at = found.parent;
    }
    return false;
  };
  return identifyAll(findSessionProcesses(sessionId).filter((pid) => pid !== process.pid && isCommand(pid)));
}

/** `endCommands` sends SIGTERM, and SIGKILL to those that are left. Processes that start meanwhile are not affected. */
export async function endCommands(
  commands: readonly ProcessIdentity[],
  sleep: (ms: number) => Promise<unknown>,
  graceMs: number,
): Promise<void> {
  for (const { pid } of commands) signalProcess(pid, "SIGTERM");
  if (commands.length > 0) await sleep(graceMs);
  for (const identity of commands) if (isAlive(identity)) signalProcess(identity.pid, "SIGKILL");
}
