// Sessions that sub-sessions and their parents are, however they can be got at: those of our runs, and those of a controller.

export interface SeenMessage {
  role: string;
  text: string;
  tools: { id: string | null; name: string; input: unknown }[];
}

export interface SessionReach {
  /** Whether there is such a session that can still hear something. Fails if that cannot be found out now. */
  isThere(sessionId: string): Promise<boolean>;
  /** What was said in it; null if nobody here can look at it. */
  messages(sessionId: string): Promise<SeenMessage[] | null>;
  /** Whether it is in the middle of something. */
  isBusy(sessionId: string): Promise<boolean>;
  /** Why it will not come to a good end any more; null if nothing of the kind is known. */
  failure(sessionId: string): string | null;
  send(sessionId: string, text: string): Promise<void>;
  /** Whether this was sent to it before. */
  hasHeard(sessionId: string, text: string): Promise<boolean>;
  /** Fails with wrong_state if it cannot be put away. */
  archive(sessionId: string): Promise<void>;
  /** Sessions that may be somebody's children: no session of a run is. */
  others(): Promise<{ id: string; cwd: string | null }[]>;
}
