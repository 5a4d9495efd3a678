// A host whose sessions all play one scenario, whatever agents a template or a person named. Who rehearses can rely on it
// that nothing else is started.
import type { SessionHost } from "./session.ts";

export function playOnly(host: SessionHost, scenarioFile: string): SessionHost {
  const agent = `script:${scenarioFile}`;
  return {
    ...host,
    open: (spec) => host.open({ ...spec, agent }),
    check: (_, cwd) => host.check(agent, cwd),
  };
}
