// Whole runs of an agent that answers with the tools of Tutti instead of blocks.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { agentOf, Lab } from "../lab/lab.ts";
import { findMarked } from "../../src/session/process.ts";
import type { StoredEvent } from "../../src/schema/event.ts";

let lab: Lab;
beforeEach(() => {
  lab = new Lab();
});
afterEach(() => lab.tearDown());

const flags = (...args: string[]) => {
  const agent = agentOf("command", "tool-user.ts", ...args);
  return ["--json", "run", "x", "--cwd", lab.repo, "--template", "_default", "--agent", agent, "--yes"];
};
const events = (): StoredEvent[] => (existsSync(join(lab.data, "tutti.db")) ? lab.events() : []);

async function serve(): Promise<ChildProcess> {
  const child = lab.start(["serve", "--port", "0"]);
  await once(child.stdout!, "data");
  return child;
}

it("an agent plans, asks over the death of the server, reads a message and completes by tools alone", async () => {
  const first = await serve();
  expect(await lab.json([...flags(), "--detach"])).toMatchObject({ code: 0 });
  const asked = () => events().find((event) => event.type === "inbox:added" && event.data.item.kind === "question");
  await expect.poll(asked).toMatchObject({ data: { item: { taskId: "a", options: ["red", "blue"] } } });
  const { run: id, data } = asked() as Extract<StoredEvent, { type: "inbox:added" }>;
  expect(await lab.json(["message", id!, "and varnish it", "--task", "a"])).toMatchObject({ code: 0 });
  first.kill("SIGKILL");
  await once(first, "exit");

  await serve();
  const headers = { authorization: `Bearer ${tokenOf(data.item.sessionId!)}` };
  const { url } = JSON.parse(readFileSync(join(lab.data, "server.json"), "utf8")) as { url: string };
  expect((await fetch(`${url}/api/orchestrator`, { headers })).status).toBe(401);
  const post = { method: "POST", headers: { ...headers, "content-type": "application/json" } };
  const override = JSON.stringify({ environment: "staging", reason: "an outage" });
  const gate = await fetch(`${url}/api/orchestrator/${id}/gate/override`, { ...post, body: override });
  expect(gate.status).toBe(401);
  await lab.json(["answer", data.item.id, "--option", "1"]);
  const blocked = () => events().find((event) => event.type === "inbox:added" && event.data.item.kind === "blocker");
  await expect.poll(blocked).toMatchObject({
    data: { item: { taskId: "a", question: "No brush", evidence: { blocker_type: "dependency_missing" } } },
  });
  const { item } = (blocked() as Extract<StoredEvent, { type: "inbox:added" }>).data;
  await lab.json(["answer", item.id, "use a roller"]);
  const ended = () => events().some(({ type }) => type === "orchestrator:completed");
  await expect.poll(ended).toBe(true);
  expect((await lab.json(["status", id!])).last).toMatchObject({ outcome: "success" });
  expect(lab.git("show", `tutti/${id}:colour.txt`)).toBe("blue\nand varnish it\nuse a roller");
  const all = events();
  expect(all.filter(({ type }) => type === "worker:spawning")).toHaveLength(1);
  expect(all.filter(({ type }) => type === "message:steered")).toHaveLength(1);
  const ofBlockers = all.flatMap(({ type }) => (type.startsWith("blocker:") ? [type] : []));
  expect(ofBlockers).toEqual(["blocker:raised", "blocker:resolved"]);
  const progress = all.filter(({ type }) => type === "worker:progress").map((event) => event.data);
  expect(progress).toContainEqual(expect.objectContaining({ progress: 10, currentAction: "asking around" }));
  const completed = all.find(({ type }) => type === "worker:completed");
  expect(completed).toMatchObject({ data: { report: { summary: "painted it blue" } } });
});

/** Reads the token from the environment of the session's agent. */
function tokenOf(sessionId: string): string {
  const [pid] = findMarked("TUTTI_SESSION_KEY", sessionId);
  const variables = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  return variables.find((each) => each.startsWith("TUTTI_MCP_TOKEN="))!.slice("TUTTI_MCP_TOKEN=".length);
}

it("a completion by tool without any work does not complete the task", async () => {
  const { code, stdout } = await lab.tutti(flags("--lazy"));
  expect(JSON.parse(stdout.trim().split("\n").at(-1)!)).toMatchObject({ outcome: "failed", census: { failed: 1 } });
  expect(code).toBe(1);
});
