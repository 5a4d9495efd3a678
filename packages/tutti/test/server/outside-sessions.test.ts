// Sessions that Tutti did not start, over HTTP: found in Claude Code's folder, with the settings of the server.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { mainSession, worker } from "../lab/scenarios.ts";
import { ServerLab } from "./server-lab.ts";

const claude = mkdtempSync(join(tmpdir(), "tutti-claude-"));
const settings = { pollInterval: 20, inactivityThreshold: 50, confirmationDelay: 50, resultPrefix: "Result: " };
const lab = new ServerLab();

beforeAll(async () => {
  vi.stubEnv("CLAUDE_CONFIG_DIR", claude);
  mkdirSync(join(claude, "sessions"));
  mkdirSync(join(claude, "projects", "-work"), { recursive: true });
  const message = { role: "assistant", content: [{ type: "text", text: "It is in parse.ts." }] };
  const entry = { type: "assistant", cwd: "/work", isSidechain: false, uuid: "1", message };
  writeFileSync(join(claude, "projects", "-work", "outside.jsonl"), `${JSON.stringify(entry)}\n`);
  writeFileSync(join(lab.lab.data, "tutti.config.json"), JSON.stringify({ subSessions: settings }));
  await lab.start();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await lab.tearDown();
  rmSync(claude, { recursive: true });
});

const statusOf = async (parent: string, child: string): Promise<string | undefined> => {
  const { json } = await lab.api(`/api/subsession/parent/${encodeURIComponent(parent)}`);
  return (json as { childSessionId: string; status: string }[]).find((each) => each.childSessionId === child)?.status;
};

it("returns a session of Claude Code to a session of a run, with the settings of the server (D4-220, D4-231)", async () => {
  const gate = lab.lab.gate();
  const first = { tools: ["Read"], waitForFile: gate.file, say: "no block" };
  const agent = lab.lab.scenario([...mainSession([{ id: "one" }]), worker("one", first, { then: "hang" })]);
  const run = await lab.create(agent, { autoStart: true, config: { autoSpawn: true } });
  await lab.until(run, ({ workers }) => workers["one"]?.session.turn != null);
  const parent = lab.engine.get(run)!.workers["one"]!.sessionId;
  expect(
    (await lab.post("/api/subsession/register", { childSessionId: "outside", parentSessionId: parent })).status,
  ).toBe(200);
  // The parent is busy, so the result waits.
  await expect.poll(() => statusOf(parent, "outside")).toBe("completed");
  expect(lab.engine.get(run)!.messages).toEqual([]);
  gate.open();
  await lab.engine.order(run, "pause");
  await expect.poll(() => statusOf(parent, "outside")).toBe("returned");
  expect(lab.engine.get(run)!.messages).toMatchObject([{ text: "Result: It is in parse.ts.", from: "outside" }]);
});

it("orphans a session whose parent is known nowhere, and watches only sessions that exist (D4-480, E48)", async () => {
  await lab.post("/api/subsession/register", { childSessionId: "child", parentSessionId: "nowhere" });
  await expect.poll(() => statusOf("nowhere", "child")).toBe("orphaned");
  expect((await lab.post("/api/subsession/watch/outside")).json).toEqual({ success: true });
  expect((await lab.post("/api/subsession/watch/nobody")).status).toBe(404);
});
