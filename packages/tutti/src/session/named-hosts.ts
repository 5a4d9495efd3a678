// `withNamedHosts` adds named agents to a host: an alias of another agent, or a host of its own. All other agents
// belong to `first`. A session id does not name its host, so lookups ask every host.
import type { SessionHost, SessionSpec } from "./session.ts";

export type NamedAgent = string | SessionHost;

export function withNamedHosts(first: SessionHost, agents: Readonly<Record<string, NamedAgent>>): SessionHost {
  const hosts = [first, ...Object.values(agents).filter((agent) => typeof agent !== "string")];
  const findHost = (name: string): { host: SessionHost; agent: string } => {
    const agent = Object.hasOwn(agents, name) ? agents[name]! : name;
    return typeof agent === "string" ? { host: first, agent } : { host: agent, agent: name };
  };
  const onEachHost = async (work: (host: SessionHost) => Promise<void>): Promise<void> => {
    await Promise.all(hosts.map(work));
  };
  return {
    open(spec: SessionSpec) {
      const { host, agent } = findHost(spec.agent);
      return host.open({ ...spec, agent });
    },
    expect: () => first.expect?.() ?? (() => {}),
    warm(spec) {
      const { host, agent } = findHost(spec.agent);
      return host.warm?.({ ...spec, agent }) ?? false;
    },
    async claim(spec, isCurrent) {
      const { host, agent } = findHost(spec.agent);
      return (await host.claim?.({ ...spec, agent }, isCurrent)) ?? false;
    },
    agentNames: () => [...(first.agentNames?.() ?? []), ...Object.keys(agents)],
    lacksTools(name) {
      const { host, agent } = findHost(name);
      return host.lacksTools?.(agent) === true;
    },
    check(name, cwd) {
      const { host, agent } = findHost(name);
      host.check(agent, cwd);
    },
    async transcript(runId, sessionId, page) {
      for (const host of hosts) {
        const entries = await host.transcript(runId, sessionId, page);
        if (entries.length > 0) return entries;
      }
      return [];
    },
    isArchived: (runId, sessionId) => hosts.some((host) => host.isArchived(runId, sessionId)),
    hasRun: (runId) => hosts.some((host) => host.hasRun(runId)),
    reap: (runId, keep) => onEachHost((host) => host.reap(runId, keep)),
    end: (runId, sessionId) => onEachHost((host) => host.end(runId, sessionId)),
    archive: (runId, sessionId) => onEachHost((host) => host.archive(runId, sessionId)),
    forget: (runId) => onEachHost((host) => host.forget(runId)),
  };
}
