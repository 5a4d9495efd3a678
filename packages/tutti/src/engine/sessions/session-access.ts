// `SessionAccess` reaches sessions that are parents or children of sub-sessions, in runs or in a controller.

export interface SeenMessage {
  role: string;
  text: string;
  tools: { id: string | null; name: string; input: unknown }[];
  /** Results of tool calls; missing if the source does not show them. */
  results?: { id: string; text: string }[];
}

export interface SessionActivity {
  /** Whether the session has an open turn. */
  isBusy: boolean;
  /** True if the session can take no further step by itself, although it `isBusy`. */
  isGone?: boolean;
  /** True if the program of the session has returned its result to its parent by itself. */
  isReturned?: boolean;
}

interface KnownChild {
  id: string;
  parentSessionId: string;
  taskToolId: string | null;
}

export interface SessionAccess {
  /** Whether the session exists and can still receive a message. Rejects if that is not known at the moment. */
  isThere(sessionId: string): Promise<boolean>;
  /** Returns null if the messages cannot be read here. */
  messages(sessionId: string): Promise<SeenMessage[] | null>;
  activity(sessionId: string): Promise<SessionActivity>;
  /** Unlike `isThere`, false while the session cannot receive a message. */
  isFree(sessionId: string): Promise<boolean>;
  /** Returns the reason, or null if the session has not failed. */
  failure(sessionId: string): Promise<string | null>;
  /** Sends the result of the sub-session `from`. */
  send(sessionId: string, text: string, from: string): Promise<void>;
  /** Whether `text` was sent to the session before. */
  wasSent(sessionId: string, text: string): Promise<boolean>;
  /** Rejects with `wrong_state` if the session cannot be archived. */
  archive(sessionId: string): Promise<void>;
  /** Sessions that belong to no run and so may be children. */
  others(): Promise<{ id: string; cwd: string | null }[]>;
  /** The children of a session, and theirs, if their source names the parents. */
  children(sessionId: string): Promise<KnownChild[]>;
}
