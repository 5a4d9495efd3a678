// Agents that a program brings along under names of its own: another agent's name, or a host that runs its sessions. All
// others are the first host's. A session is found again by asking each, because nothing but its name says whose it is.
import type { SessionHost, SessionSpec } from "./session.ts";

export type NamedAgent = string | SessionHost;

export function withNamedHosts(first: SessionHost, agents: Readonly<Record<string, NamedAgent>>): SessionHost {
  const hosts = [first, ...Object.values(agents).filter((agent) => typeof agent !== "string")];
  const meant = (name: string): { host: SessionHost; agent: string } => {
    const agent = Object.hasOwn(agents, name) ? agents[name]! : name;
    return typeof agent === "string" ? { host: first, agent } : { host: agent, agent: name };
  };
  const each = async (work: (host: SessionHost) => Promise<void>): Promise<void> => {
    await Promise.all(hosts.map(work));
  };
  return {
    open(spec: SessionSpec) {
      const { host, agent } = meant(spec.agent);
      return host.open({ ...spec, agent });
    },
    check(name, cwd) {
      const { host, agent } = meant(name);
      host.check(agent, cwd);
    },
    transcript(runId, sessionId, page) {
      for (const host of hosts) {
        const entries = host.transcript(runId, sessionId, page);
        if (entries.length > 0) return entries;
      }
      return [];
    },
    isArchived: (runId, sessionId) => hosts.some((host) => host.isArchived(runId, sessionId)),
    knows: (runId) => hosts.some((host) => host.knows(runId)),
    reap: (runId, keep) => each((host) => host.reap(runId, keep)),
    end: (runId, sessionId) => each((host) => host.end(runId, sessionId)),
    archive: (runId, sessionId) => each((host) => host.archive(runId, sessionId)),
    forget: (runId) => each((host) => host.forget(runId)),
  };
}
