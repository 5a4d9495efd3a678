// `DIALOGUES` are imported on demand, because each keeper needs at most one.
import type { OpenDialogue } from "./dialogue.ts";

const DIALOGUES = {
  claude: async () => (await import("./drivers/claude/dialogue.ts")).openClaudeDialogue,
  codex: async () => (await import("./drivers/codex/dialogue.ts")).openCodexDialogue,
  acp: async () => (await import("./drivers/acp/dialogue.ts")).openAcpDialogue,
} satisfies Record<string, () => Promise<OpenDialogue>>;

export type DialogueName = keyof typeof DIALOGUES;

export const loadDialogue = (name: DialogueName): Promise<OpenDialogue> => DIALOGUES[name]();
