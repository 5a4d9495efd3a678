// An agent that answers only with the tools of Tutti, and writes no block. With --lazy its workers do nothing but report.
// With --delegating its first worker does nothing itself: it delegates, and completes its task in the turn after. So does
// its main session in a team.
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const isLazy = process.argv.includes("--lazy");
const isDelegating = process.argv.includes("--delegating");
let turns = 0;
const { TUTTI_MCP_URL: url, TUTTI_MCP_TOKEN: token, TUTTI_TASK_ID: task, TUTTI_TEAM_ROLE: role } = process.env;
const tell = (line: object) => console.log(JSON.stringify(line));

/** Calls a tool as a client without any library does. Throws the text of a tool error. */
async function use(name: string, input: object): Promise<string> {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input } };
  const response = await fetch(url!, { method: "POST", headers, body: JSON.stringify(request) });
  const text = await response.text();
  const data = text.startsWith("{")
    ? text
    : text
        .split("\n")
        .find((line) => line.startsWith("data: {"))!
        .slice(6);
  const { result } = JSON.parse(data) as { result: { isError?: boolean; content: { text: string }[] } };
  if (result.isError) throw new Error(result.content[0]!.text);
  return result.content[0]!.text;
}

const ANSWERS: Record<string, [string, object]> = {
  analysis: ["analysis", { summary: "small", recommended_splits: 1 }],
  taskPlanning: ["task_list", { tasks: [{ id: "a", title: "A", description: "Do a" }] }],
};

async function delegate(turn: number): Promise<void> {
  if (task !== "a") {
    writeFileSync(`${task}.txt`, "done\n");
    return void (await use("attempt_completion", { result: "success", summary: `${task} is written` }));
  }
  if (turn > 1) return void (await use("attempt_completion", { result: "success", summary: "all is written" }));
  await use("new_task", { mode: "code", message: "Write a file", context: "any" });
  if (role === undefined) await use("new_task", { mode: "code", message: "Write another file", taskId: "other" });
  const early = await use("attempt_completion", { result: "success" }).catch((error: Error) => error.message);
  writeFileSync("early.txt", `${early}\n`);
}

async function work(): Promise<void> {
  await use("report_progress", { percent: 10, action: "asking around" });
  if (isLazy) return void (await use("attempt_completion", { result: "success" }));
  const colour = await use("ask", { question: "Which colour?", options: ["red", "blue"] });
  const { messages } = JSON.parse(await use("read_messages", {})) as { messages: string[] };
  const blocker = { blocker_type: "dependency_missing", severity: "high", description: "No brush" };
  const { decision } = JSON.parse(await use("escalate_blocker", blocker)) as { decision: string };
  writeFileSync("colour.txt", [colour, ...messages, decision, ""].join("\n"));
  await use("attempt_completion", { result: `painted it ${colour}`, output_files: ["colour.txt"] });
}

for await (const line of createInterface({ input: process.stdin })) {
  const { phase } = JSON.parse(line) as { phase: string };
  try {
    turns += 1;
    if (task !== undefined) await (isDelegating ? delegate(turns) : work());
    else if (role !== undefined && phase === "taskPlanning")
      await use("new_task", { mode: "architect", message: "Write files", taskId: "a" });
    else if (Object.hasOwn(ANSWERS, phase))
      await use("submit_response", Object.fromEntries(["phase", "data"].map((name, i) => [name, ANSWERS[phase]![i]])));
    else await use("attempt_completion", { result: "success", summary: "all is well" });
    tell({ type: "assistant", text: "I answered with a tool." });
    tell({ type: "turn_end" });
  } catch (error) {
    tell({ type: "turn_end", error: (error as Error).message });
  }
}
