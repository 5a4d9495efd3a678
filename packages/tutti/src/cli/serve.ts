// `tutti serve`: the server and the dashboard, until somebody ends it.
import type { Output } from "./output.ts";
import { readPairs } from "./pairs.ts";
import { announceServer } from "./server-file.ts";
import { readVersion } from "./version.ts";
import { startLocalServer } from "../main.ts";
import { TuttiError } from "../schema/error.ts";

export interface ServeFlags {
  port: string;
  host: string;
  maxWorkers?: string;
  maxPerAgent: string[];
  agentEnv: string[];
  leaveRunning?: boolean;
}

export async function serve(output: Output, flags: ServeFlags): Promise<number> {
  const token = output.token ?? process.env["TUTTI_TOKEN"];
  const server = await startLocalServer({
    dataDir: output.dataDir,
    port: readNumber("--port", flags.port, 0, 65_535),
    host: flags.host,
    version: readVersion(),
    agentEnv: readPairs("--agent-env", flags.agentEnv),
    perAgent: Object.fromEntries(
      Object.entries(readPairs("--max-per-agent", flags.maxPerAgent)).map(([agent, count]) => [
        agent,
        readNumber("--max-per-agent", count, 1, 1000),
      ]),
    ),
    ...(token === undefined ? {} : { token }),
    ...(flags.maxWorkers === undefined ? {} : { maxWorkers: readNumber("--max-workers", flags.maxWorkers, 1, 1000) }),
  });
  let takeBack = () => {};
  try {
    takeBack = announceServer(output.dataDir, { url: server.url, ownToken: token !== undefined });
    output.value({ url: server.url, openUrl: server.openUrl });
    output.result(`listening on ${server.openUrl}`);
    await untilTold(server.halted);
  } finally {
    takeBack();
    await server.close({ leaveRunning: flags.leaveRunning ?? false });
  }
  return 0;
}

/** Resolves when somebody wants an end; rejects if the engine halts before. */
export async function untilTold(halted: Promise<never>): Promise<NodeJS.Signals> {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>();
  for (const name of signals) process.on(name, resolve);
  try {
    return await Promise.race([promise, halted]);
  } finally {
    for (const name of signals) process.off(name, resolve);
  }
}

function readNumber(flag: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new TuttiError("usage", `${flag} takes a number from ${min} to ${max}, not ${text}`);
}
