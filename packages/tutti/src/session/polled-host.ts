// Sessions that a controller of somebody else's runs for us. It never speaks first, so it is polled.
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { createSecrets } from "./find-secrets.ts";
import { isPolledArchived, packJournal, PolledJournal } from "./polled-journal.ts";
import { PolledSession } from "./polled-session.ts";
import { PolledTranscript } from "./polled-transcript.ts";
import { secretValues } from "./secrets.ts";
import { impatiently, readSessionList, type ListedSession, type SessionController } from "./session-controller.ts";
import { readJson, writeJson } from "./session-folder.ts";
import type { SessionHost, SessionSpec } from "./session.ts";
import { Transcripts } from "./transcript.ts";
import { TuttiError } from "../schema/error.ts";
import { pathName } from "../schema/ids.ts";
import type { World } from "../world.ts";

/** The only agent there is where a controller runs the sessions. */
export const CONTROLLER_AGENT = "controller";
const SETTLE_MS = 10_000;
const ALL = { after: 0, limit: Number.POSITIVE_INFINITY };

export interface PolledHostOptions {
  controller: SessionController;
  /** Where the journals of the sessions are kept. */
  folder: string;
  world: World;
  /** Between two looks at a session. */
  pollMs: (spec: SessionSpec) => number;
  /** Whether a session is looked at by itself; `poll` looks in any case. */
  isWatched?: (spec: SessionSpec) => boolean;
  /** A turn whose last message has not changed for this long is over. */
  settleMs?: number;
  /** Whose values are masked wherever a session shows them; our own environment unless given. */
  env?: NodeJS.ProcessEnv;
}

export interface PolledHost extends SessionHost {
  /** Looks at a session now. A session that nobody listens to has nothing to tell. */
  poll(sessionId: string): Promise<void>;
  /** The controller's own name for a session of ours, or null. */
  backendId(runId: string, sessionId: string): string | null;
  /** Everything the controller has, ours and others. */
  listAll(): Promise<ListedSession[]>;
}

export function createPolledHost(options: PolledHostOptions): PolledHost {
  const { folder, world, pollMs, isWatched = () => true, settleMs = SETTLE_MS } = options;
  const controller = impatiently(options.controller, world);
  const secrets = createSecrets(secretValues(options.env ?? process.env));
  const transcripts = new Transcripts((own) => new PolledTranscript(own));
  const journalOf = (runId: string, sessionId: string) => new PolledJournal(folderOf(runId, sessionId), secrets);
  const open = new Map<string, PolledSession>();
  const folderOf = (runId: string, sessionId: string): string => join(folder, runId, pathName(sessionId));
  const specFile = (own: string): string => join(own, "spec.json");

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
    const own = join(folder, runId);
    const names = existsSync(own) ? readdirSync(own) : [];
    return names.flatMap((name) => readJson<SessionSpec>(specFile(join(own, name))) ?? []);
  };

  const end = async (spec: SessionSpec): Promise<void> => (open.get(spec.sessionId) ?? make(spec)).stop();

  return {
    open(spec) {
      const own = folderOf(spec.runId, spec.sessionId);
      const session = make(spec);
      open.set(spec.sessionId, session);
      if (!existsSync(specFile(own))) makeFolder(own, spec);
      return session;
    },

    check(agent) {
      if (agent === CONTROLLER_AGENT) return;
      const message = `there is no agent ${JSON.stringify(agent)} here: all sessions are run by the session controller`;
      throw new TuttiError("agent_unknown", message);
    },

    async poll(sessionId) {
      await open.get(sessionId)?.poll();
    },

    transcript: (runId, sessionId, page = ALL) => transcripts.of(folderOf(runId, sessionId)).page(page),

    backendId: (runId, sessionId) => journalOf(runId, sessionId).backendId,

    listAll: async () => readSessionList(await controller.getAllSessions()),

    isArchived: (runId, sessionId) => isPolledArchived(folderOf(runId, sessionId)),

    async archive(runId, sessionId) {
      const own = folderOf(runId, sessionId);
      const journal = journalOf(runId, sessionId);
      if (journal.records.length === 0 || isPolledArchived(own)) return;
      if (journal.end === null) throw alive([sessionId]);
      // One that was stopped has been put away then.
      if (journal.backendId !== null && !journal.end.archived) await controller.archiveSession(journal.backendId);
      await packJournal(own, world.now());
    },

    knows: (runId) => existsSync(join(folder, runId)),

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
      // Whatever is named here is deleted, so it must be a name and no way out of the folder.
      if (pathName(runId) !== runId) throw new TuttiError("invalid_input", `${JSON.stringify(runId)} is no run's name`);
      const living = specsOf(runId).filter(({ sessionId }) => journalOf(runId, sessionId).end === null);
      if (living.length > 0) throw alive(living.map(({ sessionId }) => sessionId));
      const own = join(folder, runId);
      const aside = `${own}.forgotten`;
      await rm(aside, { recursive: true, force: true });
      if (existsSync(own)) await rename(own, aside);
      await rm(aside, { recursive: true, force: true });
      transcripts.forget(own);
    },
  };

  function makeFolder(own: string, spec: SessionSpec): void {
    mkdirSync(own, { recursive: true, mode: 0o700 });
    // Whoever ends a session that another process began finds it by this.
    writeJson(specFile(own), spec);
  }
}

const alive = (sessions: readonly string[]): TuttiError =>
  new TuttiError("wrong_state", `sessions are still alive: ${sessions.join(", ")}; end them first`);
