import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { AgentSession, blocksOf, END, lastBlock, START } from "./agent-session.ts";
import { makeRepository, removeTemporaryFolders } from "./document.ts";

afterAll(removeTemporaryFolders);

const HARBOR = join(import.meta.dirname, "fixtures/harbor");

describe("the local agent as a program", () => {
  test("exits with 0 at the end of its input, having said nothing", async () => {
    const session = new AgentSession(HARBOR);
    expect(await session.close()).toBe(0);
    expect(await session.turn()).toEqual([]);
    expect(session.stderr).toBe("");
  });

  test("finishes the turn it is in when its input ends", async () => {
    const session = new AgentSession(HARBOR);
    session.send("analysis");
    expect(await session.close()).toBe(0);
    const lines = await session.turn();
    expect(lastBlock(lines).phase).toBe("analysis");
    expect(lines.at(-1)).toEqual({ type: "turn_end" });
  });

  test("ignores lines that it does not know and lines that are not JSON", async () => {
    await using session = new AgentSession(HARBOR);
    session.write('{"type":"answer","id":"1","text":"x"}\n{"type":"future"}\nnot json\n[]\nnull\n42\n\n{"type":"user"');
    session.write(',"phase":"analysis","text":"document it"}\r\n');
    expect(lastBlock(await session.turn()).phase).toBe("analysis");
  });

  test("takes a prompt with line separators of Unicode as one line", async () => {
    await using session = new AgentSession(HARBOR);
    session.write(`${JSON.stringify({ type: "user", phase: "analysis", text: "document\u2028all\u2029of it" })}\n`);
    expect(lastBlock(await session.turn()).phase).toBe("analysis");
  });

  test("answers an interrupt with the end of the turn, and the prompt that follows", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 400 }, (_, n) => [`src/f${n}.ts`, `export const v${n} = ${n};\n`.repeat(200)]),
    );
    await using session = new AgentSession(makeRepository(files));
    session.send("analysis");
    session.write('{"type":"interrupt"}\n');
    const lines = await session.turn();
    expect(lines.at(-1)).toEqual({ type: "turn_end" });
    expect(blocksOf(lines)).toEqual([]);
    expect(lastBlock(await session.ask("analysis")).phase).toBe("analysis");
  });

  test("answers prompts that arrive together one after another", async () => {
    await using session = new AgentSession(HARBOR);
    session.send("analysis");
    session.send("taskPlanning");
    expect(lastBlock(await session.turn()).phase).toBe("analysis");
    expect(lastBlock(await session.turn()).phase).toBe("task_list");
  });

  test("uses the delimiters that the prompt names", async () => {
    await using session = new AgentSession(HARBOR);
    const lines = await session.ask("analysis", { DELIMITER_START: "[[[BEGIN]]]", DELIMITER_END: "[[[FINISH]]]" });
    const text = lines.find(({ type }) => type === "assistant")!.text!;
    expect(text).toMatch(/\[\[\[BEGIN\]\]\]\n\{[\s\S]*\}\n\[\[\[FINISH\]\]\]$/);
    expect(text).not.toContain(START);
    expect(text).not.toContain(END);
  });

  test("needs none of the variables to be there", async () => {
    await using session = new AgentSession(HARBOR, { TUTTI_ROLE: "worker", TUTTI_TASK_ID: "task_007" });
    session.write('{"type":"user","id":"1","text":"Document the project: overview."}\n');
    expect(lastBlock(await session.turn())).toMatchObject({
      phase: "completion",
      data: { task_id: "task_007", status: "failed" },
    });
  });
});

describe("what the local agent cannot do", () => {
  test.each(["analysis", "taskPlanning"])("is said in words and as the error of the turn, in %s", async (phase) => {
    await using session = new AgentSession(HARBOR);
    const lines = await session.ask(phase, { USER_REQUEST: "Fix the login bug", TEMPLATE_NAME: "Refactoring" });
    expect(blocksOf(lines)).toEqual([]);
    expect(lines.at(-1)?.error).toContain("only writes documentation");
    expect(lines[0]?.text).toContain("only writes documentation");
  });

  test("is a failed completion for a worker, and no change", async () => {
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

  test("is an error that names the phase when the phase is unknown", async () => {
    await using session = new AgentSession(HARBOR);
    expect((await session.ask("deployment")).at(-1)?.error).toContain('"deployment"');
  });

  test("is a failed completion when a task's scope holds no code", async () => {
    await using session = new AgentSession(HARBOR, { TUTTI_ROLE: "worker" });
    const variables = { TASK_ID: "t", TASK_TITLE: "Document the moon", TASK_SCOPE: '["moon/"]' };
    const block = lastBlock(await session.ask("workerExecution", variables));
    expect(block.data).toMatchObject({ status: "failed" });
    expect(block.data["error"]).toContain("moon/");
  });
});
