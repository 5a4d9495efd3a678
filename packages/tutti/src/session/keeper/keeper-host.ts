import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { findDriver } from "../agents.ts";
import { archiveSession, forgetSessions, isArchived, livingSessions } from "../transcript/archive-session.ts";
import type { ResumedConversation } from "../dialogue.ts";
import type { Driver, Launch } from "../driver.ts";
import { endSession, KEEPER_GRACE_MS } from "./end-session.ts";
import { createSecrets, type Secrets } from "../secrets/find-secrets.ts";
import { PASSED_ENV, pickEnv, type KeeperLaunch } from "./keeper-launch.ts";
import { KeeperSession } from "./keeper-session.ts";
import { openRequestKey, sessionKeyOf } from "./request-key.ts";
import { maskLeftovers } from "../secrets/mask-file.ts";
import { locateProgram } from "../probe-program.ts";
import { findMarked, sweep } from "../process.ts";
import { namedFiles } from "../sandbox/login-paths.ts";
import { planSandbox } from "../sandbox/plan-sandbox.ts";
import { findSandboxProblem } from "../sandbox/probe-sandbox.ts";
import type { SandboxSpec } from "../sandbox/sandbox-command.ts";
import { secretValues } from "../secrets/secrets.ts";
import { isWarm, makeSessionFolder, paths, readEnd, readJson, removeWarm, type KeeperSpec } from "./session-folder.ts";
import type { SpareKeeper } from "./spare-keeper.ts";
import type { WarmKeeper } from "./warm-keeper.ts";
import type { Session, SessionHost, SessionSpec } from "../session.ts";
import { Transcript, Transcripts } from "../transcript/transcript.ts";
import { ignoreUnwritable } from "../../durable-file.ts";
import { TuttiError } from "../../schema/error.ts";
import { pathName } from "../../schema/ids.ts";
import type { SandboxPaths } from "../../schema/agent/sandbox.ts";
import type { World } from "../../world.ts";

export interface KeeperHostOptions {
  /** The parent of all session folders. The key that signs requests is beside it, in `keeper.key`. */
  folder: string;
  /** `engineFile` names the live engine. Keepers poll this file. */
  engineFile: string;
  world: World;
  /** The user's variables for all agents, in addition to `PASSED_ENV`. */
  agentEnv?: Record<string, string>;
  /** The server's token. No agent receives it; keepers and readers mask it. */
  token?: () => string | null;
  orphanAfterMs?: number;
  graceMs?: number;
  /** Limits the output of a session on disk. `maxOutputBytes` is called for each session. */
  maxOutputBytes?: () => number | undefined;
  /** Further files for agents in the sandbox, as the user's settings name them. Called for each session. */
  access?: () => SandboxPaths;
  /** Holds a keeper for the next session. Without it, each session starts its own. */
  spare?: SpareKeeper;
  /** Holds the agent of a session that has not started. Without it no agent is started ahead. */
  warm?: WarmKeeper;
  /** With `requiresSandbox` a session without a sandbox is refused. */
  requiresSandbox?: boolean;
}

/** `OWN_ENV` describes the session to its agent. The user cannot set these variables. */
const OWN_ENV = [
  "TUTTI_RUN_ID",
  "TUTTI_TASK_ID",
  "TUTTI_ROLE",
  "TUTTI_TEAM_ROLE",
  "TUTTI_MAILBOX",
  "TUTTI_SESSION_KEY",
  "TUTTI_ATTEMPT",
  "TUTTI_MODEL",
  "TUTTI_MCP_URL",
  "TUTTI_MCP_TOKEN",
];
const ORPHAN_AFTER_MS = 10 * 60_000;
const GRACE_MS = 10_000;
/** `MAX_OUTPUT_BYTES` is more than ten times the output of a long session. */
const MAX_OUTPUT_BYTES = 100_000_000;
/** `PROBE_MS` limits bubblewrap in the probe of the sandbox. */
const PROBE_MS = 10_000;
/** `REAP_MS` limits a keeper in `reap`. A server that has to end gets ten seconds for everything. */
const REAP_MS = 6000;
const ALL = { after: 0, limit: Number.POSITIVE_INFINITY };

export function createKeeperHost(options: KeeperHostOptions): SessionHost {
  const { folder, world, agentEnv = {} } = options;
  /** Keepers and readers mask `knownSecrets`. */
  const knownSecrets = (): string[] => {
    const token = options.token?.() ?? null;
    return secretValues({ ...process.env, ...agentEnv, ...(token === null ? {} : { TUTTI_TOKEN: token }) });
  };
  let cachedSecrets: Secrets | null = null;
  const secrets = (): Secrets => (cachedSecrets ??= createSecrets(knownSecrets()));
  let requestKey: string | null = null;
  let sandboxProblem: Promise<string | null> | null = null;
  const transcripts = new Transcripts((sessionFolder) => new Transcript(sessionFolder, secrets()));
  /** Maps a session folder to its archiving in progress. Concurrent calls share one. */
  const archiving = new Map<string, Promise<void>>();

  /** `sessionKey` reads the key when it is first needed: a host that only reads transcripts creates none. */
  function sessionKey(sessionId: string): string {
    requestKey ??= openRequestKey(join(dirname(folder), "keeper.key"));
    return sessionKeyOf(requestKey, sessionId);
  }

  function environmentOf(spec: SessionSpec, launch: Launch): Record<string, string> {
    const { sessionId, runId, role, teamRole, mailbox, taskId, attempt, model } = spec;
    const passed = [...PASSED_ENV, ...(launch.passEnv ?? []), ...Object.keys(agentEnv)];
    return {
      ...pickEnv({ ...process.env, ...agentEnv }, passed),
      // In the sandbox `/tmp` is the agent's own.
      ...(spec.sandbox && !(agentEnv["TMPDIR"] || process.env["TMPDIR"]) ? { TMPDIR: "/tmp" } : {}),
      ...Object.fromEntries(Object.entries(launch.defaults ?? {}).filter(([name]) => !Object.hasOwn(agentEnv, name))),
      ...launch.env,
      TUTTI_RUN_ID: runId,
      ...(taskId === null ? {} : { TUTTI_TASK_ID: taskId }),
      TUTTI_ROLE: role,
      ...(teamRole === undefined ? {} : { TUTTI_TEAM_ROLE: teamRole }),
      ...(mailbox === undefined ? {} : { TUTTI_MAILBOX: mailbox }),
      TUTTI_SESSION_KEY: sessionId,
      TUTTI_ATTEMPT: String(attempt),
      ...(model === undefined ? {} : { TUTTI_MODEL: model }),
    };
  }

  function keeperLaunch(spec: SessionSpec, launch: Launch): KeeperLaunch {
    return { key: sessionKey(spec.sessionId), secrets: knownSecrets(), env: environmentOf(spec, launch) };
  }

  function keeperSpec(spec: SessionSpec, launch: Launch, driver: Driver): KeeperSpec {
    const { sessionId, runId, agent, cwd, permissions, delegation, subagentDepth, model = null } = spec;
    return {
      sessionId,
      runId,
      agent,
      cwd,
      mode: launch.mode,
      command: launch.command,
      dialogue: "dialogue" in driver ? driver.dialogue : null,
      permissions,
      delegation,
      subagentDepth,
      model,
      interrupt: "coding" in driver ? driver.coding.encodeInterrupt() : null,
      engineFile: options.engineFile,
      orphanAfterMs: options.orphanAfterMs ?? ORPHAN_AFTER_MS,
      graceMs: options.graceMs ?? GRACE_MS,
      stallMs: spec.stallTimeout ?? null,
      maxOutputBytes: options.maxOutputBytes?.() ?? MAX_OUTPUT_BYTES,
    };
  }

  /** `sandboxOf` is null for an agent without a sandbox, and for a session that was started before. */
  function sandboxOf(spec: SessionSpec, launch: Launch, sessionFolder: string): SandboxSpec | null {
    if (!spec.sandbox || (existsSync(paths(sessionFolder).spec) && !isWarm(sessionFolder))) return null;
    const { network, access } = spec.sandbox;
    const env = environmentOf(spec, launch);
    return planSandbox({
      // A missing program makes the start of the agent fail, which then has no other way to start.
      program: locateProgram("bwrap") ?? "bwrap",
      network,
      sessionFolder,
      dataFolder: dirname(folder),
      command: launch.command,
      env,
      paths: [
        access,
        launch.access ?? {},
        { readable: namedFiles(launch.passEnv ?? [], env), writable: spec.mailbox === undefined ? [] : [spec.mailbox] },
        options.access?.() ?? {},
      ],
    });
  }

  /** Rejects variables of the user that `keeperSpec` would overwrite. */
  function rejectReservedEnv(agent: string, driver: Driver): void {
    const reserved = [...OWN_ENV, ...(driver.ownEnv ?? [])].find((name) => Object.hasOwn(agentEnv, name));
    if (reserved === undefined) return;
    const problem = `The variable ${reserved} cannot be set for the agent ${JSON.stringify(agent)}, because Tutti sets it.`;
    throw new TuttiError("invalid_input", `${problem} Remove it from the agents' environment.`);
  }

  /** A session that is over is only read, so `driver.launch` must not create files for its agent again. */
  function launchOf(spec: SessionSpec, driver: Driver, rest: string, sessionFolder: string): Launch {
    const started = readJson<KeeperSpec>(paths(sessionFolder).spec);
    if (started && (readEnd(sessionFolder) !== null || isArchived(sessionFolder)))
      return { mode: started.mode, command: started.command };
    if (started === null) rejectReservedEnv(spec.agent, driver);
    return driver.launch(rest, spec, sessionFolder, { ...process.env, ...agentEnv });
  }

  /** The agent gets the current login and environment, which may have changed since it was suspended. */
  function revivalOf(spec: SessionSpec, driver: Driver, rest: string, sessionFolder: string) {
    if (!("resume" in driver) || !driver.resume) return null;
    const { resume } = driver;
    return (resumed: ResumedConversation): KeeperLaunch => {
      const launch = driver.launch(rest, spec, sessionFolder, { ...process.env, ...agentEnv });
      return { ...keeperLaunch(spec, launch), revival: { ...resumed, command: resume(launch.command) } };
    };
  }

  const folderOf = (runId: string, sessionId: string): string => join(folder, runId, pathName(sessionId));

  function settingsOf(spec: SessionSpec, sessionFolder: string) {
    const { driver, rest } = findDriver(spec.agent);
    const launch = launchOf(spec, driver, rest, sessionFolder);
    const sandbox = sandboxOf(spec, launch, sessionFolder);
    return { driver, rest, launch, keeper: { ...keeperSpec(spec, launch, driver), ...(sandbox && { sandbox }) } };
  }

  return {
    ...(options.spare ? { expect: () => options.spare!.expectSession() } : {}),

    warm(spec) {
      const { warm } = options;
      const sessionFolder = folderOf(spec.runId, spec.sessionId);
      if (!warm?.isFree || existsSync(sessionFolder) || (!spec.sandbox && options.requiresSandbox)) return false;
      makeSessionFolder(sessionFolder);
      warm.start(sessionFolder, () => {
        const { launch, keeper } = settingsOf(spec, sessionFolder);
        return { spec: keeper, launch: keeperLaunch(spec, launch) };
      });
      return true;
    },

    async claim(spec, isCurrent) {
      const sessionFolder = folderOf(spec.runId, spec.sessionId);
      if (!isWarm(sessionFolder)) return false;
      if (isCurrent && options.warm) {
        const { launch, keeper } = settingsOf(spec, sessionFolder);
        if (await options.warm.claim(sessionFolder, keeper, keeperLaunch(spec, launch))) return true;
      }
      await endWarm(sessionFolder, spec.sessionId, KEEPER_GRACE_MS);
      return false;
    },

    open(spec: SessionSpec): Session {
      if (!spec.sandbox && options.requiresSandbox) throw withoutSandbox(spec.runId);
      const sessionFolder = folderOf(spec.runId, spec.sessionId);
      const { driver, rest, launch, keeper } = settingsOf(spec, sessionFolder);
      return new KeeperSession({
        folder: sessionFolder,
        driver,
        launch,
        spec: keeper,
        keeperLaunch: () => keeperLaunch(spec, launch),
        revivalLaunch: revivalOf(spec, driver, rest, sessionFolder),
        sessionKey: () => sessionKey(spec.sessionId),
        secrets: secrets(),
        world,
        spare: options.spare ?? null,
      });
    },

    // `findSandboxProblem` runs once per process: each run would pay for it otherwise.
    findSandboxProblem: () => (sandboxProblem ??= findSandboxProblem({ timeoutMs: PROBE_MS })),

    lacksTools: (agent) => findDriver(agent).driver.lacksTools === true,

    check(agent, cwd) {
      const { driver, rest } = findDriver(agent);
      driver.check(rest, cwd);
      rejectReservedEnv(agent, driver);
    },

    transcript: (runId, sessionId, page = ALL) => transcripts.of(folderOf(runId, sessionId)).page(page),

    isArchived: (runId, sessionId) => isArchived(folderOf(runId, sessionId)),

    async archive(runId, sessionId) {
      const sessionFolder = folderOf(runId, sessionId);
      const inProgress =
        archiving.get(sessionFolder) ??
        archiveSession(sessionFolder, world.now(), secrets()).finally(() => archiving.delete(sessionFolder));
      archiving.set(sessionFolder, inProgress);
      await inProgress;
    },

    async forget(runId) {
      await forgetSessions(folder, runId, () => livingSessions(join(folder, runId)));
      transcripts.forget(join(folder, runId));
    },

    hasRun: (runId) => existsSync(join(folder, runId)),

    end: (runId, sessionId) => endFolder(folderOf(runId, sessionId), KEEPER_GRACE_MS),

    async reap(runId, keep) {
      const runFolder = join(folder, runId);
      const kept = new Set(keep.map(pathName));
      const others = (existsSync(runFolder) ? readdirSync(runFolder) : []).filter((name) => !kept.has(name));
      await Promise.all(others.map((name) => endFolder(join(runFolder, name), REAP_MS)));
      // Processes that a keeper lost track of still carry TUTTI_RUN_ID in their environment.
      if (keep.length === 0)
        await sweep(
          () => findMarked("TUTTI_RUN_ID", runId),
          (ms) => world.sleep(ms),
        );
      await options.spare?.settled();
    },
  };

  /** Only a run that was made under other settings, for example an imported one, gets here. */
  function withoutSandbox(runId: string): TuttiError {
    const problem = `The run "${runId}" has no sandbox, which this engine requires.`;
    return new TuttiError("sandbox_unavailable", `${problem} Start a new run, or use another mode than "required".`);
  }

  /** Also ends a warm session that an earlier engine has left. */
  async function endWarm(session: string, sessionId: string, graceMs: number): Promise<void> {
    await endSession(session, sessionId, world, graceMs);
    removeWarm(session);
  }

  async function endFolder(session: string, graceMs: number): Promise<void> {
    const spec = readJson<KeeperSpec>(paths(session).spec);
    // Without `spec.json` no keeper was started.
    if (isWarm(session)) return spec ? endWarm(session, spec.sessionId, graceMs) : removeWarm(session);
    if (!spec) return;
    await endSession(session, spec.sessionId, world, graceMs);
    await ignoreUnwritable(maskLeftovers(session, secrets()));
  }
}
