// Sessions of a controller as parents and children of sub-sessions, beside the sessions of Tutti's own runs.
import type { OwnSessions } from "./own-sessions.ts";
import type { SeenMessage, SessionAccess } from "./session-access.ts";
import { TuttiError } from "../../schema/error.ts";
import {
  readBusy,
  readMessages,
  readSessionList,
  type SessionController,
} from "../../session/polled/session-controller.ts";

export interface ControllerSessionsOptions {
  controller: SessionController;
  own: OwnSessions;
  /** The controller's ids for the sessions of Tutti's runs. */
  ownNames: () => ReadonlySet<string>;
  /** Masks secrets: messages go into the log and to other sessions. */
  mask: (text: string) => string;
}

export function controllerSessions({ controller, own, ownNames, mask }: ControllerSessionsOptions): SessionAccess {
  const isOwn = (id: string): boolean => own.find(id) !== null;
  const listed = async () => readSessionList(await controller.getAllSessions());
  const messages = async (id: string): Promise<SeenMessage[]> => {
    const transcript = await controller.getTranscript(id);
    const ids = toolIds(transcript);
    return readMessages(transcript).map(({ role, text, tools }, at) => {
      return { role, text: mask(text), tools: tools.map((tool, i) => ({ ...tool, id: ids[at]?.[i] ?? null })) };
    });
  };
  return {
    async isThere(id) {
      if (isOwn(id)) return own.isThere(id);
      const found = await controller.getSession(id).catch(() => null);
      // `getSession` may fail because the controller is unreachable; then the list decides or fails too.
      return isSomething(found) || (await listed()).some((session) => session.id === id);
    },
    async messages(id) {
      if (isOwn(id)) return own.messages(id);
      try {
        return await messages(id);
      } catch (error) {
        if ((await listed()).some((session) => session.id === id)) throw error;
        throw new TuttiError("session_not_found", `The controller has no session "${id}".`, { cause: error });
      }
    },
    isBusy: async (id) => (isOwn(id) ? own.isBusy(id) : readBusy(await controller.getSession(id))),
    failure: (id) => own.failure(id),
    async send(id, text, from) {
      await (isOwn(id) ? own.send(id, text, from) : controller.sendMessage(id, text));
    },
    async hasHeard(id, text) {
      if (isOwn(id)) return own.hasHeard(id, text);
      return (await messages(id)).some((message) => message.role !== "assistant" && message.text === text);
    },
    async archive(id) {
      await (isOwn(id) ? own.archive(id) : controller.archiveSession(id));
    },
    async others() {
      const ours = ownNames();
      return (await listed()).filter(({ id }) => !ours.has(id));
    },
  };
}

const isSomething = (value: unknown): boolean => value !== null && value !== undefined && value !== false;

/** `readMessages` drops the ids of tool calls; this returns them by message. */
function toolIds(transcript: unknown): (string | null)[][] {
  const list = Array.isArray(transcript) ? transcript : isObject(transcript) ? transcript["messages"] : null;
  return (Array.isArray(list) ? list : []).filter(isObject).map((message) => {
    const inner = isObject(message["message"]) ? message["message"] : message;
    const parts = Array.isArray(inner["content"]) ? inner["content"].filter(isObject) : [];
    return parts
      .filter(({ type, name }) => type === "tool_use" && typeof name === "string")
      .map(({ id }) => (typeof id === "string" ? id : null));
  });
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
