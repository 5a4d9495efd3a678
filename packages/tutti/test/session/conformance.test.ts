// Runs the conformance suite for all drivers, with stub programs that use the real protocols.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, vi } from "vitest";
import { describeAgent, type Made, type Prompt } from "./conformance.ts";
import { pathWith } from "./played-program.ts";
import type { SessionLab } from "./session-lab.ts";
import { agentOf } from "../lab/lab.ts";
import { programOf } from "../lab/program-of.ts";

const OWN_WORDS = { kind: "error", detail: "no such luck today" } as const;
const SILENT = { partialText: false, resume: false, subagents: false, interrupt: true } as const;

describeAgent("command:", {
  make: () => ({ agent: agentOf("command", "command.ts"), tool: "Write", failure: OWN_WORDS, runs: true }),
});

describeAgent("text:", {
  make: () => ({
    agent: agentOf("text", "text.ts"),
    abilities: { ...SILENT, permissions: false, cost: "none" },
    tool: null,
    failure: { kind: "exited", detail: expect.stringContaining("exited with 7") as string },
    runs: true,
  }),
});

describeAgent("script:", {
  make: (lab, prompts) => ({
    agent: lab.scenario(scenarioOf(prompts)),
    abilities: { ...SILENT, permissions: true, cost: "tokens" },
    tool: "Write",
    failure: null,
    runs: false,
  }),
});

describeAgent("claude", { make: (lab) => played(lab, "claude", "CLAUDE_CONFIG_DIR") });
describeAgent("codex", { make: (lab) => played(lab, "codex", "CODEX_HOME") });

describeAgent("acp:", {
  make: () => ({
    agent: `acp:${process.execPath} ${programOf("acp.ts")}`,
    tool: "Edit",
    failure: OWN_WORDS,
    runs: true,
  }),
});

/** The drivers find the user's setup in the environment of the engine, which is this process. */
function played(lab: SessionLab, name: "claude" | "codex", home: string): Made {
  const folder = join(lab.folder, "person");
  mkdirSync(folder);
  vi.stubEnv(home, folder);
  for (const key of ["OPENAI_API_KEY", "CODEX_API_KEY"]) vi.stubEnv(key, undefined);
  return {
    agent: name,
    env: { PATH: pathWith(name, lab.folder) },
    tool: "Write",
    failure: OWN_WORDS,
    runs: true,
    close: () => vi.unstubAllEnvs(),
  };
}

/** The same orders as a scenario, with one entry per phase. */
function scenarioOf(prompts: readonly Prompt[]): object[] {
  const phases = [...new Set(prompts.map(({ phase }) => phase))];
  return phases.map((phase) => ({
    match: { phase },
    turns: prompts
      .filter(
        (prompt) => prompt.phase === phase && !prompt.text.startsWith("fail") && !prompt.text.includes("Well again"),
      )
      .map(({ text }) => text.split("\n").map(readOrder).reduce(joinParts, {})),
  }));
}

interface Part {
  say?: string;
  tools?: string[];
  write?: Record<string, string>;
  usage?: { inputTokens: number; outputTokens: number };
  then?: string;
}

function readOrder(line: string): Part {
  const [verb, ...words] = line.split(" ");
  const rest = words.join(" ");
  switch (verb) {
    case "say":
      return { say: rest };
    case "write":
      return { tools: ["Write"], write: { [rest]: "written\n" } };
    case "run":
      return { then: `ask:May I run ${rest}?` };
    case "use":
      return { usage: { inputTokens: Number(words[0]), outputTokens: Number(words[1]) } };
    case "talk":
      return { say: "word", then: "hang" };
    default:
      return {};
  }
}

const joinParts = (all: Part, part: Part): Part => ({
  ...all,
  ...part,
  ...(all.say !== undefined && part.say !== undefined ? { say: all.say + part.say } : {}),
});
