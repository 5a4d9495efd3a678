// `createPolledHost` hosts sessions that an external session controller runs. A controller has no notifications, so it
// is polled.
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createSecrets } from "../secrets/find-secrets.ts";
import { isPolledArchived, packJournal, PolledJournal } from "./polled-journal.ts";
import { PolledSession } from "./polled-session.ts";
import { PolledTranscript } from "./polled-transcript.ts";
import { maskValue } from "../secrets/mask.ts";
import { secretValues } from "../secrets/secrets.ts";
import { readSessionList, withTimeout, type ControllerSession, type SessionController } from "./session-controller.ts";
import { readJson, writeJson } from "../keeper/session-folder.ts";
import type { SessionHost, SessionSpec } from "../session.ts";
import { forgetSessions, stillAlive } from "../transcript/archive-session.ts";
import { Transcripts } from "../transcript/transcript.ts";
import { TuttiError } from "../../schema/error.ts";
import { pathName } from "../../schema/ids.ts";
import type { World } from "../../world.ts";

/** `CONTROLLER_AGENT` is the only agent name that a polled host accepts. */
export const CONTROLLER_AGENT = "controller";
const SETTLE_MS = 10_000;
const ALL = { after: 0, limit: Number.POSITIVE_INFINITY };

export interface PolledHostOptions {
  controller: SessionController;
  /** The parent of the folders with the journals. */
  folder: string;
  world: World;
  pollMs: (spec: SessionSpec) => number;
  /** Only sessions that `isWatched` are polled automatically; `poll` works in any case. */
  isWatched?: (spec: SessionSpec) => boolean;
  /** A turn without a change of its last message for `settleMs` is over. */
  settleMs?: number;
  /** The secret values of this environment are masked; default `process.env`. */
  env?: NodeJS.ProcessEnv;
}

export interface PolledHost extends SessionHost {
  /** `poll` does nothing for a session with `signals` that have ended. */
  poll(sessionId: string): Promise<void>;
  /** `backendId` is the controller's id of a session, or null. */
  backendId(runId: string, sessionId: string): string | null;
  /** Includes sessions that Tutti did not start. */
  listAll(): Promise<ControllerSession[]>;
}

export function createPolledHost(options: PolledHostOptions): PolledHost {
  const { folder, world, pollMs, isWatched = () => true, settleMs = SETTLE_MS } = options;
  const controller = withTimeout(options.controller, world);
  const secrets = createSecrets(secretValues(options.env ?? process.env));
  const transcripts = new Transcripts((sessionFolder) => new PolledTranscript(sessionFolder));
  const journalOf = (runId: string, sessionId: string) => new PolledJournal(folderOf(runId, sessionId), secrets);
  const open = new Map<string, PolledSession>();
  const folderOf = (runId: string, sessionId: string): string => join(folder, runId, pathName(sessionId));
  const specFile = (sessionFolder: string): string => join(sessionFolder, "spec.json");

  function make(spec: SessionSpec): PolledSession {
    const journal = journalOf(spec.runId, spec.sessionId);
    const session: PolledSession = new PolledSession({
      journal,
      controller,
      spec,
      world,
      settleMs,
      pollMs: () => pollMs(spec),
      isWatched: () => isWatched(spec),
      onLeft: () => {
        if (open.get(spec.sessionId) === session) open.delete(spec.sessionId);
      },
    });
    return session;
  }

  const specsOf = (runId: string): SessionSpec[] => {
    const runFolder = join(folder, runId);
    const names = existsSync(runFolder) ? readdirSync(runFolder) : [];
    return names.flatMap((name) => readJson<SessionSpec>(specFile(join(runFolder, name))) ?? []);
  };

  const end = async (spec: SessionSpec): Promise<void> => (open.get(spec.sessionId) ?? make(spec)).stop();

  return {
    open(spec) {
      const sessionFolder = folderOf(spec.runId, spec.sessionId);
      const session = make(spec);
      open.set(spec.sessionId, session);
      if (!existsSync(specFile(sessionFolder))) makeFolder(sessionFolder, spec);
      return session;
    },

    lacksTools: () => true,

    check(agent) {
      if (agent === CONTROLLER_AGENT) return;
      const problem = `Agent ${JSON.stringify(agent)} does not exist here, because the session controller runs all sessions.`;
      throw new TuttiError("agent_unknown", `${problem} Use the agent "${CONTROLLER_AGENT}".`);
    },

    async poll(sessionId) {
      await open.get(sessionId)?.poll();
    },

    transcript: (runId, sessionId, page = ALL) => transcripts.of(folderOf(runId, sessionId)).page(page),

    backendId: (runId, sessionId) => journalOf(runId, sessionId).backendId,

    listAll: async () => readSessionList(await controller.getAllSessions()),

    isArchived: (runId, sessionId) => isPolledArchived(folderOf(runId, sessionId)),

    async archive(runId, sessionId) {
      const sessionFolder = folderOf(runId, sessionId);
      const journal = journalOf(runId, sessionId);
      if (journal.records.length === 0 || isPolledArchived(sessionFolder)) return;
      if (journal.end === null) throw stillAlive(sessionId);
      // `stop` has archived the controller's session already.
      if (journal.backendId !== null && !journal.end.archived) await controller.archiveSession(journal.backendId);
      await packJournal(sessionFolder, world.now());
    },

    hasRun: (runId) => existsSync(join(folder, runId)),

    async end(runId, sessionId) {
      const spec = readJson<SessionSpec>(specFile(folderOf(runId, sessionId)));
      if (spec) await end(spec);
    },

    async reap(runId, keep) {
      await Promise.all(
        specsOf(runId)
          .filter(({ sessionId }) => !keep.includes(sessionId))
          .map(end),
      );
    },

    async forget(runId) {
      const isLiving = ({ sessionId }: SessionSpec) => journalOf(runId, sessionId).end === null;
      await forgetSessions(folder, runId, () =>
        specsOf(runId).flatMap((spec) => (isLiving(spec) ? spec.sessionId : [])),
      );
      transcripts.forget(join(folder, runId));
    },
  };

  function makeFolder(sessionFolder: string, spec: SessionSpec): void {
    mkdirSync(sessionFolder, { recursive: true, mode: 0o700 });
    // `end` and `reap` need the spec of a session that another process opened, but no text in it.
    writeJson(specFile(sessionFolder), maskValue(secrets, spec));
  }
}
