// Access to sessions that are parents or children of sub-sessions, in runs or in a controller.

export interface SeenMessage {
  role: string;
  text: string;
  tools: { id: string | null; name: string; input: unknown }[];
}

export interface SessionAccess {
  /** Whether the session exists and can still receive a message. Rejects if that is unknown now. */
  isThere(sessionId: string): Promise<boolean>;
  /** The messages of the session; null if they cannot be read here. */
  messages(sessionId: string): Promise<SeenMessage[] | null>;
  /** Whether the session has an open turn. */
  isBusy(sessionId: string): Promise<boolean>;
  /** Why the session has failed; null if it has not. */
  failure(sessionId: string): string | null;
  /** Sends the result of the sub-session `from`. */
  send(sessionId: string, text: string, from: string): Promise<void>;
  /** Whether `text` was sent to the session before. */
  hasHeard(sessionId: string, text: string): Promise<boolean>;
  /** Rejects with `wrong_state` if the session cannot be archived. */
  archive(sessionId: string): Promise<void>;
  /** Sessions that belong to no run and so may be children. */
  others(): Promise<{ id: string; cwd: string | null }[]>;
}
