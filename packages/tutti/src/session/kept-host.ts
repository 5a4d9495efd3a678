// Sessions under keepers, all in one data folder.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { findDriver } from "./agents.ts";
import { archiveSession, forgetSessions, isArchived } from "./archive-session.ts";
import { endSession } from "./end-session.ts";
import { KeptSession } from "./kept-session.ts";
import { readTranscript } from "./transcript.ts";
import { sweep } from "./process.ts";
import { paths, readJson, type KeeperSpec } from "./session-folder.ts";
import type { Session, SessionHost, SessionSpec } from "./session.ts";
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
  orphanAfterMs?: number;
  graceMs?: number;
}

/** What every agent gets of the server's environment. */
const PASSED_ENV = ["PATH", "HOME", "LANG", "TZ", "TMPDIR"];
const ORPHAN_AFTER_MS = 10 * 60_000;
const GRACE_MS = 10_000;

export function createKeptHost(options: KeptHostOptions): SessionHost {
  const { folder, world, agentEnv = {} } = options;
  const env = { ...process.env, ...agentEnv };
  /** Being archived right now, by folder: asking twice at the same time is asking once. */
  const archiving = new Map<string, Promise<void>>();

  function keeperSpec(spec: SessionSpec, mode: KeeperSpec["mode"], command: string[]): KeeperSpec {
    const { sessionId, runId, role, taskId, attempt, agent, cwd } = spec;
    return {
      sessionId,
      runId,
      agent,
      cwd,
      mode,
      command,
      env: {
        TUTTI_RUN_ID: runId,
        ...(taskId === null ? {} : { TUTTI_TASK_ID: taskId }),
        TUTTI_ROLE: role,
        TUTTI_SESSION_KEY: sessionId,
        TUTTI_ATTEMPT: String(attempt),
      },
      passEnv: [...PASSED_ENV, ...Object.keys(agentEnv)],
      engineFile: options.engineFile,
      orphanAfterMs: options.orphanAfterMs ?? ORPHAN_AFTER_MS,
      graceMs: options.graceMs ?? GRACE_MS,
    };
  }

  return {
    open(spec: SessionSpec): Session {
      const { driver, rest } = findDriver(spec.agent);
      const launch = driver.launch(rest, spec);
      const own = join(folder, spec.runId, pathName(spec.sessionId));
      return new KeptSession({
        folder: own,
        driver,
        launch,
        spec: keeperSpec(spec, launch.mode, launch.command),
        env,
        world,
      });
    },

    check(agent, cwd) {
      const { driver, rest } = findDriver(agent);
      driver.check(rest, cwd);
    },

    transcript: (runId, sessionId) => readTranscript(join(folder, runId, pathName(sessionId))),

    isArchived: (runId, sessionId) => isArchived(join(folder, runId, pathName(sessionId))),

    async archive(runId, sessionId) {
      const own = join(folder, runId, pathName(sessionId));
      const begun = archiving.get(own) ?? archiveSession(own, world.now()).finally(() => archiving.delete(own));
      archiving.set(own, begun);
      await begun;
    },

    async forget(runId) {
      // Whatever is named here is deleted, so it must be a name and no way out of the folder.
      if (pathName(runId) !== runId) throw new TuttiError("invalid_input", `${JSON.stringify(runId)} is no run's name`);
      await forgetSessions(join(folder, runId));
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
    if (spec) await endSession(session, spec.sessionId, world);
  }
}
