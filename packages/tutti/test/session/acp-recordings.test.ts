import { describe, expect, test } from "vitest";
import { play, whole } from "./acp-lab.ts";
import type { AgentLine } from "../../src/session/dialogue.ts";

/** In the recordings the user allowed the first and the third file, and refused the second. */
const SETTINGS = { refuse: ["Write(*/acp2.txt)", "Edit(*/acp2.txt)"] };
const hello: AgentLine = { type: "assistant", text: "Hello from the fake model. All is well." };
const ended: AgentLine = { type: "turn_end" };
const written = (number: number): AgentLine[] => [
  { type: "assistant", text: "I will write the file." },
  { type: "assistant", text: `Done: wrote /home/dev/project/acp${number}.txt.` },
];
const texts = (lines: AgentLine[]) => whole(lines).filter(({ type }) => type === "assistant");
const tools = (lines: AgentLine[]) => lines.filter(({ type }) => type === "tool");
const readies = (lines: AgentLine[]) => lines.filter((line) => line.type === "ready");

const known = { partialText: true, interrupt: true, resume: true, permissions: true, subagents: false };
const AGENTS = {
  claude: {
    ready: { agent: "@agentclientprotocol/claude-agent-acp", version: "0.99.0", cost: "usd" },
    usage: {
      type: "usage",
      inputTokens: 2619,
      outputTokens: 34,
      usd: 0.011156000000000001,
      contextTokens: 2567,
      contextWindow: 1_000_000,
    },
    tool: {
      type: "tool",
      name: "Write",
      input: { file_path: "/home/dev/project/acp1.txt", content: "hello from fake llm\n" },
    },
    failure: {
      type: "turn_end",
      error: "Internal error: API Error: 400 messages: fake bad request",
      cause: "invalid_request",
    },
  },
  codex: {
    ready: { agent: "@agentclientprotocol/codex-acp", version: "2.6.0", cost: "tokens" },
    usage: { type: "usage", inputTokens: 6288, outputTokens: 45, contextTokens: 6333, contextWindow: 258_400 },
    tool: {
      type: "tool",
      name: "exec_command",
      input: {
        command: `printf '%s' "hello from fake llm\\n" > /home/dev/project/acp1.txt`,
        cwd: "/home/dev/project",
      },
    },
    failure: { type: "turn_end", error: "messages: fake bad request", cause: "invalid_request" },
  },
  gemini: {
    ready: { agent: "gemini-cli", version: "0.61.0", cost: "tokens" },
    usage: { type: "usage", inputTokens: 206, outputTokens: 20 },
    tool: {
      type: "tool",
      name: "Edit",
      input: { title: "Writing to acp1.txt", paths: ["/home/dev/project/acp1.txt"] },
    },
    failure: { type: "turn_end", error: "messages: fake bad request", cause: "invalid_request" },
  },
} as const;

/** The recordings are older than the tools that Tutti offers to its agents. */
const withoutServers = <T extends object>(message: T): T =>
  JSON.parse(JSON.stringify(message, (name, value: unknown) => (name === "mcpServers" ? [] : value))) as T;

describe.each(["claude", "codex", "gemini"] as const)("A recording of %s", (name) => {
  const expected = AGENTS[name];

  test("gets exactly the recorded answers and is translated to JSON lines", async () => {
    const { turns, said } = await play(name, SETTINGS);
    for (const [theirs, ours] of said) if (theirs.method !== "initialize") expect(withoutServers(ours)).toEqual(theirs);
    const [start, first, second, third, slow, , , refused, again] = turns.map(whole);
    const { agent, version, cost } = expected.ready;
    expect(start).toMatchObject([{ type: "ready", agent, version, capabilities: { ...known, cost: "none" } }]);
    // `ready` is repeated with `cost` after the first usage report.
    expect(readies(first!)).toMatchObject([{ agent, capabilities: { cost } }]);
    expect(texts(first!).at(-1)).toEqual(hello);
    expect(first!.slice(-2)).toEqual([expected.usage, ended]);
    expect(texts(second!).slice(-2)).toEqual(written(1));
    expect(tools(second!)).toMatchObject([expected.tool]);
    expect(second!.at(-1)).toEqual(ended);
    expect(texts(third!).slice(-2)).toEqual(written(2));
    // A refused tool was not used. The tool of Codex needs no permission.
    expect(tools(third!)).toHaveLength(name === "codex" ? 1 : 0);
    expect(texts(slow!).at(-1)).toMatchObject({ text: expect.stringMatching(/^word word/) as string });
    expect(slow!.at(-1)).toEqual({ type: "turn_end", error: "the agent cancelled the turn" });
    expect(refused!.at(-1)).toEqual(expected.failure);
    expect(again!.at(-1)).toEqual(ended);
    expect(texts(again!).at(-1)).toEqual(hello);
  });

  test("has partial messages that add up to the whole ones", async () => {
    const { turns } = await play(name, SETTINGS);
    for (const lines of turns) {
      const pieces = lines.filter((line) => line.type === "assistant");
      const joined = (partial: boolean) =>
        pieces.map((line) => ((line.partial === true) === partial ? line.text : "")).join("");
      expect(joined(true)).toBe(joined(false));
    }
  });
});

test("Tools of a subagent follow the call that started it, and its text is not taken for the agent's", async () => {
  const { turns } = await play("claude", SETTINGS);
  expect(tools(turns[6]!)).toMatchObject([{ name: "Agent" }, { name: "Write" }]);
  expect(texts(turns[6]!)).toEqual([
    { type: "assistant", text: "Delegating to a subagent." },
    { type: "assistant", text: "The subagent finished; the main job is done." },
  ]);
});
