import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { AgentSession, blocksOf, END, lastBlock, START } from "./agent-session.ts";
import { makeRepository, removeTemporaryFolders } from "./document.ts";

afterAll(removeTemporaryFolders);

const HARBOR = join(import.meta.dirname, "fixtures/harbor");

describe("the local agent as a program", () => {
  test("exits with 0 and without output at the end of its input", async () => {
    const session = new AgentSession(HARBOR);
    expect(await session.close()).toBe(0);
    expect(await session.turn()).toEqual([]);
    expect(session.stderr).toBe("");
  });

  test("finishes the open turn after the end of its input", async () => {
    const session = new AgentSession(HARBOR);
    session.send("analysis");
    expect(await session.close()).toBe(0);
    const lines = await session.turn();
    expect(lastBlock(lines).phase).toBe("analysis");
    expect(lines.at(-1)).toEqual({ type: "turn_end", at: expect.any(String) });
  });

  test("ignores lines of unknown types and lines that are not JSON", async () => {
    await using session = new AgentSession(HARBOR);
    session.write('{"type":"answer","id":"1","text":"x"}\n{"type":"future"}\nnot json\n[]\nnull\n42\n\n{"type":"user"');
    session.write(',"phase":"analysis","text":"document it"}\r\n');
    expect(lastBlock(await session.turn()).phase).toBe("analysis");
  });

  test("reads a prompt with line separators of Unicode as one line", async () => {
    await using session = new AgentSession(HARBOR);
    session.write(`${JSON.stringify({ type: "user", phase: "analysis", text: "document\u2028all\u2029of it" })}\n`);
    expect(lastBlock(await session.turn()).phase).toBe("analysis");
  });

  test("ends the turn after an interrupt, and answers the next prompt", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 400 }, (_, n) => [`src/f${n}.ts`, `export const v${n} = ${n};\n`.repeat(200)]),
    );
    await using session = new AgentSession(makeRepository(files));
    // One write: the turn must not end before the interrupt.
    session.write('{"type":"user","phase":"analysis","text":"document it"}\n{"type":"interrupt"}\n');
    const lines = await session.turn();
    expect(lines.at(-1)).toEqual({ type: "turn_end", at: expect.any(String) });
    expect(blocksOf(lines)).toEqual([]);
    expect(lastBlock(await session.ask("analysis")).phase).toBe("analysis");
  });

  test("answers prompts that arrive together in order", async () => {
    await using session = new AgentSession(HARBOR);
    session.send("analysis");
    session.send("taskPlanning");
    expect(lastBlock(await session.turn()).phase).toBe("analysis");
    expect(lastBlock(await session.turn()).phase).toBe("task_list");
  });

  test("uses the delimiters of the prompt", async () => {
    await using session = new AgentSession(HARBOR);
    const lines = await session.ask("analysis", { DELIMITER_START: "[[[BEGIN]]]", DELIMITER_END: "[[[FINISH]]]" });
    const text = lines.find(({ type }) => type === "assistant")!.text!;
    expect(text).toMatch(/\[\[\[BEGIN\]\]\]\n\{[\s\S]*\}\n\[\[\[FINISH\]\]\]$/);
    expect(text).not.toContain(START);
    expect(text).not.toContain(END);
  });

  test("accepts a prompt without variables", async () => {
    await using session = new AgentSession(HARBOR, { TUTTI_ROLE: "worker", TUTTI_TASK_ID: "task_007" });
    session.write('{"type":"user","id":"1","text":"Document the project: overview."}\n');
    expect(lastBlock(await session.turn())).toMatchObject({
      phase: "completion",
      data: { task_id: "task_007", status: "failed" },
    });
  });
});

describe("a request that the local agent cannot carry out", () => {
  test.each(["analysis", "taskPlanning"])(
    "is refused in a message and in the error of the turn, in %s",
    async (phase) => {
      await using session = new AgentSession(HARBOR);
      const lines = await session.ask(phase, { USER_REQUEST: "Fix the login bug", TEMPLATE_NAME: "Refactoring" });
      expect(blocksOf(lines)).toEqual([]);
      // With this cause Tutti asks the user instead of sending the prompt again.
      expect(lines.at(-1)).toMatchObject({
        error: expect.stringContaining("only writes documentation"),
        cause: "invalid_request",
      });
      expect(lines[0]?.text).toContain("only writes documentation");
    },
  );

  test("is a failed completion of a worker", async () => {
    await using session = new AgentSession(HARBOR, { TUTTI_ROLE: "worker" });
    const variables = {
      USER_REQUEST: "Fix it",
      TEMPLATE_NAME: "Bugs",
      TASK_ID: "task_001",
      TASK_TITLE: "Fix tide.ts",
      TASK_SCOPE: "[]",
    };
    const block = lastBlock(await session.ask("workerExecution", variables));
    expect(block.data).toMatchObject({ task_id: "task_001", status: "failed" });
    expect(block.data["error"]).toContain("only writes documentation");
  });

  test("is an error with the name of the phase if the phase is unknown", async () => {
    await using session = new AgentSession(HARBOR);
    expect((await session.ask("deployment")).at(-1)?.error).toContain('"deployment"');
  });

  test("is a failed completion if the scope of the task contains no code", async () => {
    await using session = new AgentSession(HARBOR, { TUTTI_ROLE: "worker" });
    const variables = { TASK_ID: "t", TASK_TITLE: "Document the moon", TASK_SCOPE: '["moon/"]' };
    const block = lastBlock(await session.ask("workerExecution", variables));
    expect(block.data).toMatchObject({ status: "failed" });
    expect(block.data["error"]).toContain("moon/");
  });
});
