// `controllerSessions` offers the sessions of a controller as parents and children of sub-sessions, beside the `own`
// ones of Tutti's runs.
import type { OwnSessions } from "./own-sessions.ts";
import type { SeenMessage, SessionAccess } from "./session-access.ts";
import { TuttiError } from "../../schema/error.ts";
import {
  readActivity,
  readMessages,
  readSessionList,
  readSubSessions,
  type SessionController,
} from "../../session/polled/session-controller.ts";

interface ControllerSessionsOptions {
  controller: SessionController;
  own: OwnSessions;
  /** Returns the ids that the `controller` uses for sessions of Tutti's runs. */
  ownNames: () => ReadonlySet<string>;
  /** Whether a session that the `controller` does not know exists nowhere. */
  knowsAll: boolean;
  /** Masks secrets, because the messages go into the log and to other sessions. */
  mask: (text: string) => string;
}

const CUT_OFF = "its process ended in the middle of a turn";

export function controllerSessions(options: ControllerSessionsOptions): SessionAccess {
  const { controller, own, ownNames, knowsAll, mask } = options;
  const isOwn = (id: string): boolean => own.find(id) !== null;
  const listed = async () => readSessionList(await controller.getAllSessions());
  const messages = async (id: string): Promise<SeenMessage[]> =>
    readMessages(await controller.getTranscript(id)).map(({ role, text, tools, results }) => ({
      role,
      text: mask(text),
      tools: tools.map((tool) => ({ ...tool, id: tool.id ?? null })),
      results,
    }));
  const isThere = async (id: string): Promise<boolean> => {
    const found = await controller.getSession(id).catch(() => null);
    // `getSession` may fail because the controller is unreachable; then the list decides or fails too.
    return isSomething(found) || (await listed()).some((session) => session.id === id);
  };
  const activity = async (id: string) => readActivity(await controller.getSession(id));
  return {
    isThere: async (id) => (await own.isThere(id)) || isThere(id),
    async messages(id) {
      if (isOwn(id)) return own.messages(id);
      try {
        return await messages(id);
      } catch (error) {
        if ((await listed()).some((session) => session.id === id)) throw error;
        if (!knowsAll) return null;
        throw new TuttiError("session_not_found", `The controller has no session "${id}". Check its id.`, {
          cause: error,
        });
      }
    },
    activity: (id) => (isOwn(id) ? own.activity(id) : activity(id)),
    async isFree(id) {
      if (await own.isThere(id)) return own.isFree(id);
      const { isBusy, isOpen, isGone } = await activity(id);
      return !isOpen && (!isBusy || isGone);
    },
    async failure(id) {
      if (isOwn(id)) return own.failure(id);
      return (await activity(id)).isGone ? CUT_OFF : null;
    },
    async send(id, text, from) {
      await ((await own.isThere(id)) ? own.send(id, text, from) : controller.sendMessage(id, text));
    },
    async wasSent(id, text) {
      if (await own.isThere(id)) return own.wasSent(id, text);
      return (await messages(id)).some((message) => message.role !== "assistant" && message.text === text);
    },
    async archive(id) {
      await (isOwn(id) ? own.archive(id) : controller.archiveSession(id));
    },
    async others() {
      const ours = ownNames();
      return (await listed()).filter(({ id }) => !ours.has(id));
    },
    children: async (id) => (isOwn(id) ? [] : readSubSessions(await controller.getSubSessions?.(id))),
  };
}

const isSomething = (value: unknown): boolean => value !== null && value !== undefined && value !== false;
