// `withAgents` adds the agents that the user's configuration defines. Each of their sessions gets its own host on the
// same folder, because only that agent may receive the variables in its `env`.
import type { UserConfig } from "./config.ts";
import type { SessionHost, SessionSpec } from "../session/session.ts";

/** `hostWith` creates a host that also passes `variables` on. `agents` is read again for each session. */
export function withAgents(
  host: SessionHost,
  agents: () => UserConfig["agents"],
  hostWith: (variables: readonly string[]) => SessionHost,
): SessionHost {
  const settingsOf = (name: string) => {
    const all = name.includes(":") ? {} : agents();
    return Object.hasOwn(all, name) ? all[name] : undefined;
  };
  const route = (spec: SessionSpec): { host: SessionHost; spec: SessionSpec } => {
    const settings = settingsOf(spec.agent);
    return settings ? { host: hostWith(settings.env), spec: { ...spec, agent: settings.agent } } : { host, spec };
  };
  return {
    ...host,
    open(given) {
      const { host, spec } = route(given);
      return host.open(spec);
    },
    warm(given) {
      const { host, spec } = route(given);
      return host.warm?.(spec) ?? false;
    },
    async claim(given, isCurrent) {
      const { host, spec } = route(given);
      return (await host.claim?.(spec, isCurrent)) ?? false;
    },
    agentNames: () => Object.keys(agents()),
    resolveAgent: (name) => settingsOf(name)?.agent ?? name,
    lacksTools: (name) => host.lacksTools?.(settingsOf(name)?.agent ?? name) === true,
    check(name, cwd) {
      const settings = settingsOf(name);
      if (settings) hostWith(settings.env).check(settings.agent, cwd);
      else host.check(name, cwd);
    },
  };
}
