import { resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import { ringTerminal } from "../terminal/bell.ts";
import type { Output } from "../terminal/output.ts";
import { readPairs } from "../input/pairs.ts";
import { readNumber } from "../input/read-number.ts";
import { readSandbox } from "../input/read-sandbox.ts";
import { serveFolder } from "./serve-folder.ts";
import { readVersion } from "../../own-files.ts";
import type { LocalServerOptions } from "../../main/local-server.ts";
import { readLogLevel } from "../../telemetry/log.ts";

interface ServeFlags {
  port: string;
  host: string;
  maxWorkers?: string;
  maxPerAgent: string[];
  agentEnv: string[];
  rateLimit?: string;
  folders?: string[];
  logLevel?: string;
  logFile?: string;
  retainDays?: string;
  leaveRunning?: boolean;
  sandbox?: string;
  databaseUrl?: string;
  lease?: string;
  alsoWork?: boolean;
}

export async function serve(output: Output, flags: ServeFlags): Promise<number> {
  const token = output.token ?? process.env["TUTTI_TOKEN"];
  const sandbox = readSandbox(flags.sandbox);
  const options: LocalServerOptions = {
    ...(sandbox && { sandbox }),
    dataDir: output.dataDir,
    port: readNumber("--port", flags.port, 0, 65_535),
    host: flags.host,
    version: readVersion(),
    agentEnv: readPairs("--agent-env", flags.agentEnv),
    ...(process.stdout.isTTY ? { bell: () => ringTerminal(output) } : {}),
    log: {
      level: readLogLevel(flags.logLevel ?? (process.env["TUTTI_LOG"] || defaultLevel(flags))),
      ...(flags.logFile === undefined ? {} : { file: flags.logFile }),
    },
    ...(flags.retainDays === undefined ? {} : { retainDays: readNumber("--retain-days", flags.retainDays, 1, 36_500) }),
    perAgent: Object.fromEntries(
      Object.entries(readPairs("--max-per-agent", flags.maxPerAgent)).map(([agent, count]) => [
        agent,
        readNumber("--max-per-agent", count, 1, 1000),
      ]),
    ),
    ...(token === undefined ? {} : { token }),
    ...(flags.databaseUrl === undefined ? {} : { databaseUrl: flags.databaseUrl }),
    ...(flags.lease === undefined ? {} : { leaseMs: readNumber("--lease", flags.lease, 1, 86_400) * 1000 }),
    alsoWork: flags.alsoWork ?? false,
    ...(flags.rateLimit === undefined
      ? {}
      : { rateLimit: { perMinute: readNumber("--rate-limit", flags.rateLimit, 1, 1_000_000) } }),
    ...(flags.folders === undefined ? {} : { folders: flags.folders.map((folder) => resolve(folder)) }),
    ...(flags.maxWorkers === undefined ? {} : { maxWorkers: readNumber("--max-workers", flags.maxWorkers, 1, 1000) }),
  };
  return serveFolder(options, flags.leaveRunning ?? false, ({ url, openUrl }) => {
    output.value({ url, openUrl });
    output.result(`listening on ${openUrl}`);
    // By default a few large requests let V8's young generation grow by about 100 MB, which it never returns. A server
    // runs for weeks, and a smaller process also starts others faster. The start itself needs the room to grow.
    setFlagsFromString("--semi-space-growth-factor=1");
    // Large answers are garbage once they are sent. By default V8 lets them take three times the memory of the live
    // objects before it collects them.
    setFlagsFromString("--heap-growing-percent=30");
  });
}

/** A terminal shows only problems; a `logFile` or a log collector also gets `info`. */
const defaultLevel = ({ logFile }: ServeFlags): string =>
  logFile === undefined && process.stderr.isTTY ? "warn" : "info";
