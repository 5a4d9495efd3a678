import { expect, test } from "vitest";
import { CodexLab, playRecording } from "./codex-lab.ts";

test("A recorded conversation with commands, file changes, an interrupt and an error is translated to JSON lines", () => {
  // In the recording the user allowed the command and the first file, and refused the second file.
  const lab = new CodexLab({ permissions: { mode: "all", refuse: ["Write(cxas3.txt)"] } });
  playRecording(lab, "codex-appserver.io");
  expect(lab.failures).toEqual([]);
  expect(lab.readies).toBe(1);
  expect(lab.decisions()).toEqual([{ decision: "accept" }, { decision: "accept" }, { decision: "decline" }]);
  const [ready] = lab.of("ready");
  expect(ready).toMatchObject({ agent: "codex", version: "0.166.0", capabilities: { cost: "tokens", resume: true } });
  expect(ready!.conversation).toMatch(/^[\da-f]{8}-/);
  expect(lab.told.filter(({ type }) => type === "turn_end" || type === "tool" || type === "ask")).toMatchObject([
    { type: "turn_end" },
    { type: "tool", name: "Bash", input: { command: "touch /home/dev/project/cxas.txt && echo done" } },
    { type: "turn_end" },
    { type: "tool", name: "Write", input: { file_path: "/home/dev/project/cxas2.txt", change: "add" } },
    { type: "turn_end" },
    { type: "turn_end", error: "the agent was not allowed to use Write, and did nothing else", cause: "denied" },
    { type: "turn_end", error: "the turn was interrupted" },
    { type: "turn_end" },
    { type: "turn_end", error: "messages: fake bad request", cause: "invalid_request" },
  ]);
  expect(lab.words()).toEqual([
    "Hello from the fake model. All is well.",
    "Command finished.",
    "I will write the file.",
    "Done: wrote /home/dev/project/cxas2.txt.",
    "I will write the file.",
    "Done: wrote /home/dev/project/cxas3.txt.",
    '{"status":"done","files":["a.txt"],"score":7}',
  ]);
});

test("The usage of a recorded conversation is reported as differences that add up to the last total", () => {
  const lab = new CodexLab();
  playRecording(lab, "codex-appserver.io");
  const usage = lab.of("usage");
  const context = { contextTokens: 6896, contextWindow: 258_400 };
  expect(usage[0]).toEqual({ type: "usage", inputTokens: 6851, outputTokens: 45, ...context });
  expect(usage.reduce((sum, { inputTokens }) => sum + inputTokens, 0)).toBe(57_943);
  expect(usage.reduce((sum, { outputTokens }) => sum + outputTokens, 0)).toBe(472);
});
