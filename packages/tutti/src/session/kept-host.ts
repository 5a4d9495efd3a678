// Sessions under keepers, all in one data folder.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { findDriver } from "./agents.ts";
import { archiveSession, forgetSessions, isArchived } from "./archive-session.ts";
import type { Driver, Launch } from "./driver.ts";
import { endSession } from "./end-session.ts";
import { createSecrets, type Secrets } from "./find-secrets.ts";
import { KeptSession } from "./kept-session.ts";
import { maskLeftovers } from "./mask-file.ts";
import { sweep } from "./process.ts";
import { secretValues } from "./secrets.ts";
import { paths, readEnd, readJson, type KeeperSpec } from "./session-folder.ts";
import type { Session, SessionHost, SessionSpec } from "./session.ts";
import { Transcript, Transcripts } from "./transcript.ts";
import { TuttiError } from "../schema/error.ts";
import { pathName } from "../schema/ids.ts";
import type { World } from "../world.ts";

export interface KeptHostOptions {
  /** Where the session folders are made. */
  folder: string;
  /** The file that says which engine is alive; keepers look at it. */
  engineFile: string;
  world: World;
  /** Variables of the person's choice for all agents, on top of the few that every agent gets. */
  agentEnv?: Record<string, string>;
  /** The server's own token, which no agent is given; it is masked wherever one shows it. */
  token?: () => string | null;
  orphanAfterMs?: number;
  graceMs?: number;
}

/** What every agent gets of the server's environment. */
const PASSED_ENV = ["PATH", "HOME", "LANG", "TZ", "TMPDIR"];
/** What we tell every agent about its session. */
const OWN_ENV = ["TUTTI_RUN_ID", "TUTTI_TASK_ID", "TUTTI_ROLE", "TUTTI_SESSION_KEY", "TUTTI_ATTEMPT"];
const ORPHAN_AFTER_MS = 10 * 60_000;
const GRACE_MS = 10_000;
const ALL = { after: 0, limit: Number.POSITIVE_INFINITY };

export function createKeptHost(options: KeptHostOptions): SessionHost {
  const { folder, world, agentEnv = {} } = options;
  /** For keepers: what they pass on to agents, and what they mask. */
  const keeperEnv = (): NodeJS.ProcessEnv => {
    const token = options.token?.() ?? null;
    return { ...process.env, ...agentEnv, ...(token === null ? {} : { TUTTI_TOKEN: token }) };
  };
  let known: Secrets | null = null;
  const secrets = (): Secrets => (known ??= createSecrets(secretValues(keeperEnv())));
  const transcripts = new Transcripts((own) => new Transcript(own, secrets()));
  /** Being archived right now, by folder: asking twice at the same time is asking once. */
  const archiving = new Map<string, Promise<void>>();

  function keeperSpec(spec: SessionSpec, launch: Launch, interrupt: string | null): KeeperSpec {
    const { sessionId, runId, role, taskId, attempt, agent, cwd, permissions } = spec;
    return {
      sessionId,
      runId,
      agent,
      cwd,
      mode: launch.mode,
      command: launch.command,
      dialogue: launch.dialogue ?? null,
      permissions,
      interrupt: launch.mode === "stream" ? interrupt : null,
      env: {
        ...Object.fromEntries(Object.entries(launch.defaults ?? {}).filter(([name]) => !Object.hasOwn(agentEnv, name))),
        ...launch.env,
        TUTTI_RUN_ID: runId,
        ...(taskId === null ? {} : { TUTTI_TASK_ID: taskId }),
        TUTTI_ROLE: role,
        TUTTI_SESSION_KEY: sessionId,
        TUTTI_ATTEMPT: String(attempt),
      },
      passEnv: [...PASSED_ENV, ...(launch.passEnv ?? []), ...Object.keys(agentEnv)],
      engineFile: options.engineFile,
      orphanAfterMs: options.orphanAfterMs ?? ORPHAN_AFTER_MS,
      graceMs: options.graceMs ?? GRACE_MS,
      stallMs: spec.stallTimeout ?? null,
    };
  }

  /** What the person gives the agents and we would have to ignore. */
  function refuseTaken(agent: string, driver: Driver): void {
    const taken = [...OWN_ENV, ...(driver.ownEnv ?? [])].find((name) => Object.hasOwn(agentEnv, name));
    if (taken === undefined) return;
    const message = `${taken} cannot be given to the agent ${JSON.stringify(agent)}: Tutti sets it itself for every session`;
    throw new TuttiError("invalid_input", message);
  }

  /** A session that is over is only read, and nothing is made for its agent once more. */
  function launchOf(spec: SessionSpec, driver: Driver, rest: string, own: string): Launch {
    const begun = readJson<KeeperSpec>(paths(own).spec);
    if (begun && (readEnd(own) !== null || isArchived(own))) return { mode: begun.mode, command: begun.command };
    if (begun === null) refuseTaken(spec.agent, driver);
    return driver.launch(rest, spec, own, { ...process.env, ...agentEnv });
  }

  return {
    open(spec: SessionSpec): Session {
      const { driver, rest } = findDriver(spec.agent);
      const own = join(folder, spec.runId, pathName(spec.sessionId));
      const launch = launchOf(spec, driver, rest, own);
      return new KeptSession({
        folder: own,
        driver,
        launch,
        spec: keeperSpec(spec, launch, driver.encodeInterrupt()),
        env: keeperEnv(),
        secrets: secrets(),
        world,
      });
    },

    check(agent, cwd) {
      const { driver, rest } = findDriver(agent);
      driver.check(rest, cwd);
      refuseTaken(agent, driver);
    },

    transcript: (runId, sessionId, page = ALL) => transcripts.of(join(folder, runId, pathName(sessionId))).page(page),

    isArchived: (runId, sessionId) => isArchived(join(folder, runId, pathName(sessionId))),

    async archive(runId, sessionId) {
      const own = join(folder, runId, pathName(sessionId));
      const begun =
        archiving.get(own) ?? archiveSession(own, world.now(), secrets()).finally(() => archiving.delete(own));
      archiving.set(own, begun);
      await begun;
    },

    async forget(runId) {
      // Whatever is named here is deleted, so it must be a name and no way out of the folder.
      if (pathName(runId) !== runId) throw new TuttiError("invalid_input", `${JSON.stringify(runId)} is no run's name`);
      await forgetSessions(join(folder, runId));
      transcripts.forget(join(folder, runId));
    },

    knows: (runId) => existsSync(join(folder, runId)),

    end: (runId, sessionId) => endFolder(join(folder, runId, pathName(sessionId))),

    async reap(runId, keep) {
      const own = join(folder, runId);
      const kept = new Set(keep.map(pathName));
      const others = (existsSync(own) ? readdirSync(own) : []).filter((name) => !kept.has(name));
      await Promise.all(others.map((name) => endFolder(join(own, name))));
      // Whatever a keeper lost sight of carries the run's mark.
      if (keep.length === 0) await sweep("TUTTI_RUN_ID", runId, (ms) => world.sleep(ms));
    },
  };

  async function endFolder(session: string): Promise<void> {
    const spec = readJson<KeeperSpec>(paths(session).spec);
    if (!spec) return;
    await endSession(session, spec.sessionId, world);
    maskLeftovers(session, secrets());
  }
}
