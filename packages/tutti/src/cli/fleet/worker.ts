// The first signal aborts `drain`, a second one ends the process at once.
import { readPairs } from "../input/pairs.ts";
import { readNumber } from "../input/read-number.ts";
import { INTERRUPTED } from "../terminal/interrupt.ts";
import type { Output } from "../terminal/output.ts";
import { serveAsHost } from "../../main/fleet/worker-host.ts";

interface WorkerFlags {
  databaseUrl: string;
  label: string[];
  capacity?: string;
  repository?: string;
  agentEnv: string[];
  grace: string;
}

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export async function worker(output: Output, flags: WorkerFlags): Promise<number> {
  const drain = new AbortController();
  const onSignal = () => {
    if (drain.signal.aborted) process.exit(INTERRUPTED);
    drain.abort();
    output.line("draining: no new work, sessions finish; a second signal ends at once");
  };
  // The handlers of `others` end the process within two seconds.
  const others = SIGNALS.map((name) => ({ name, listeners: process.listeners(name) }));
  for (const { name } of others) process.removeAllListeners(name).on(name, onSignal);
  const { databaseUrl, repository } = flags;
  const options = {
    dataDir: output.dataDir,
    databaseUrl,
    labels: readPairs("--label", flags.label),
    capacity: flags.capacity === undefined ? undefined : readNumber("--capacity", flags.capacity, 1, 1000),
    repository,
    agentEnv: readPairs("--agent-env", flags.agentEnv),
    graceMs: readNumber("--grace", flags.grace, 0, 86_400) * 1000,
    drain: drain.signal,
    onJoined: ({ id, name }: { id: string; name: string }) => {
      output.value({ id, name });
      output.result(`ready as ${name} (${id})`);
    },
    report: (line: string) => output.line(line),
  };
  try {
    await serveAsHost(options);
    return 0;
  } finally {
    for (const { name, listeners } of others) {
      process.removeListener(name, onSignal);
      for (const each of listeners) process.on(name, each);
    }
  }
}
