import type { SessionHost } from "./session.ts";

/** All sessions of the returned host play the scenario, so a rehearsal starts no other agent. */
export function playOnly(host: SessionHost, scenarioFile: string): SessionHost {
  const agent = `script:${scenarioFile}`;
  return {
    ...host,
    open: (spec) => host.open({ ...spec, agent }),
    check: (_, cwd) => host.check(agent, cwd),
  };
}
