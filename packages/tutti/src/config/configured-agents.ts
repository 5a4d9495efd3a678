// `withAgents` adds the agents that the user's configuration defines. Each of their sessions gets its own host on the
// same folder, because only that agent may receive the variables in its `env`.
import type { UserConfig } from "./config.ts";
import type { SessionHost } from "../session/session.ts";

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
  return {
    ...host,
    open(spec) {
      const settings = settingsOf(spec.agent);
      return settings ? hostWith(settings.env).open({ ...spec, agent: settings.agent }) : host.open(spec);
    },
    agentNames: () => Object.keys(agents()),
    resolveAgent: (name) => settingsOf(name)?.agent ?? name,
    check(name, cwd) {
      const settings = settingsOf(name);
      if (settings) hostWith(settings.env).check(settings.agent, cwd);
      else host.check(name, cwd);
    },
  };
}
