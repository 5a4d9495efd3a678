/** Agents that need no configuration. Any project may name them: they run programs that the user has installed. */
export const BUILT_IN_AGENTS: readonly string[] = ["local", "claude", "codex"];
