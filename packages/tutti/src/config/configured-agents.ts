// Agents by the names that the person's own configuration gives them. A session of such an agent is opened by a host of
// its own on the same folder, because only that agent is given the variables named for it.
import type { UserConfig } from "./config.ts";
import type { SessionHost } from "../session/session.ts";

/** `hostWith` makes a host whose agents are given these variables too. The configuration is looked at for each session. */
export function withAgents(
  host: SessionHost,
  agents: () => UserConfig["agents"],
  hostWith: (variables: readonly string[]) => SessionHost,
): SessionHost {
  const named = (name: string) => {
    const all = name.includes(":") ? {} : agents();
    return Object.hasOwn(all, name) ? all[name] : undefined;
  };
  return {
    ...host,
    open(spec) {
      const settings = named(spec.agent);
      return settings ? hostWith(settings.env).open({ ...spec, agent: settings.agent }) : host.open(spec);
    },
    meant: (name) => named(name)?.agent ?? name,
    check(name, cwd) {
      const settings = named(name);
      if (settings) hostWith(settings.env).check(settings.agent, cwd);
      else host.check(name, cwd);
    },
  };
}
