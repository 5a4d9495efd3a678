// `tryAgent` lets an agent carry out one small run per protocol on a sample project, in a temporary folder that is
// removed afterwards. The engine judges the answers by the rules of real runs.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { openLocalEngine, type LocalOptions } from "./local-engine.ts";
import { withSampleFolder } from "./sample-folder.ts";
import { CONFIG_FILE, readUserConfig } from "../config/config.ts";
import type { Engine } from "../engine/engine.ts";
import { TuttiError } from "../schema/error.ts";
import { NO_USAGE } from "../schema/outcome.ts";
import type { InboxItem } from "../schema/inbox.ts";
import type { StoredEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver } from "../schema/status.ts";
import { SUITES, TOOLS_TEMPLATE, type SuiteName } from "./conformance-suites.ts";
import { leadOf } from "../schema/team/roles.ts";

interface TriedTurn {
  phase: string;
  taskId: string | null;
  try: number;
  /** Empty if the answer was accepted. */
  problems: string[];
}

export interface SuiteReport {
  suite: SuiteName;
  templateId: string;
  /** `unsupported` if the agent never sent a message of this protocol. */
  result: "passed" | "failed" | "unsupported";
  /** Empty if the `result` is "passed". */
  causes: string[];
  turns: TriedTurn[];
  usage: Run["usage"];
  durationMs: number;
}

interface ConformanceOptions {
  agent: string;
  timeoutMs: number;
  /** The data folder with the user's agents, which are known in the temporary folder too. */
  userDataDir: string;
  host: Pick<LocalOptions, "replaceHost">;
  signal: AbortSignal;
}

export function tryAgent(suite: SuiteName, options: ConformanceOptions): Promise<SuiteReport> {
  const { templateId, request: message } = SUITES[suite];
  const { agent, timeoutMs, userDataDir, host, signal } = options;
  return withSampleFolder("tutti-conformance-", async ({ dataDir, cwd }) => {
    const { agents } = readUserConfig(resolve(userDataDir));
    if (agents) writeFileSync(join(dataDir, CONFIG_FILE), JSON.stringify({ agents }));
    mkdirSync(join(dataDir, "templates"));
    writeFileSync(join(dataDir, "templates", `${TOOLS_TEMPLATE.id}.json`), JSON.stringify(TOOLS_TEMPLATE));
    const local = openLocalEngine({ ...host, dataDir, warn: () => {} });
    try {
      const { engine } = local;
      const created = await engine.create({ templateId, cwd, message, agent }).catch((error: unknown) => {
        if (suite === "tools" && error instanceof TuttiError && error.code === "invalid_input") return error;
        throw error;
      });
      if (created instanceof TuttiError) return withoutTools(created.message);
      const { id } = created;
      const ended = await finishRun(engine, id, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
      signal.throwIfAborted();
      return await reportSuite(suite, engine, id, ended ? [] : [`it did not end within ${timeoutMs / 1000} s`]);
    } finally {
      await local.close();
    }
  });
}

/** The engine starts no run for an agent that cannot call tools. */
const withoutTools = (cause: string): SuiteReport => ({
  suite: "tools",
  templateId: SUITES.tools.templateId,
  result: "unsupported",
  causes: [cause],
  turns: [],
  usage: NO_USAGE,
  durationMs: 0,
});

/**
 * Returns false if `signal` aborted first. A question to the user ends the wait (`isStuck`), because a report does not
 * wait for answers.
 */
async function finishRun(engine: Engine, id: string, signal: AbortSignal): Promise<boolean> {
  const isStuck = ({ status, planErrors, inbox }: Run) =>
    isRunOver(status) || status === "paused" || planErrors.length > 0 || Object.values(inbox).some(needsAnswer);
  const work = async () => {
    await engine.order(id, "start");
    const planned = await engine.until(id, (run) => run.status === "confirming" || isStuck(run));
    if (planned.status === "confirming" && planned.planErrors.length === 0) await engine.order(id, "confirm");
    await engine.until(id, isStuck);
    return true;
  };
  const aborted = Promise.withResolvers<false>();
  signal.addEventListener("abort", () => aborted.resolve(false));
  const done = work();
  // After an abort the engine is closed, which rejects `done` too.
  done.catch(() => {});
  return Promise.race([done, aborted.promise]);
}

/** A run continues without an answer to an item of kind `failure`. */
const needsAnswer = ({ kind }: InboxItem): boolean => kind !== "failure";

async function reportSuite(suite: SuiteName, engine: Engine, id: string, late: string[]): Promise<SuiteReport> {
  const run = engine.get(id)!;
  const events = [...engine.readEvents({ run: id })];
  const { outcome, causes, warnings, error, usage, durationMs } = await engine.result(id);
  const questions = Object.values(run.inbox)
    .filter(needsAnswer)
    .map(({ question }) => question);
  const why = [
    ...late,
    ...causes.map(({ reason }) => reason),
    ...warnings,
    ...(error === null ? [] : [error]),
    ...questions,
  ];
  const spoke = suite === "response" || events.some((event) => isOwnMessage(event, run));
  return {
    suite,
    templateId: run.templateId,
    result: outcome === "success" ? "passed" : spoke ? "failed" : "unsupported",
    causes: outcome === "success" ? [] : [...new Set(why)],
    turns: triedTurns(events),
    usage,
    durationMs,
  };
}

/** Messages from `leadOf` the team are those of the engine, not of the agent. */
const isOwnMessage = ({ type, data }: StoredEvent, { template }: Run): boolean =>
  type === "message:queued" && data.message.from !== leadOf(template.roles ?? {});

function triedTurns(events: readonly StoredEvent[]): TriedTurn[] {
  const started = new Map<string, { phase: string; try: number }>();
  return events.flatMap(({ type, data }) => {
    if (type === "turn:started") started.set(`${data.sessionId} ${data.turn}`, data);
    const start = type === "turn:ended" && started.get(`${data.sessionId} ${data.turn}`);
    return start ? [{ phase: start.phase, taskId: data.taskId, try: start.try, problems: data.problems }] : [];
  });
}
