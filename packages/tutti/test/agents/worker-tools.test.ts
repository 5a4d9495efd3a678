// The real programs use the tools that Tutti offers to its agents, against the scripted model.
import { afterEach, expect, test, vi } from "vitest";
import { Conversation } from "./conversation.ts";
import { agentEnv, type AgentName } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint } from "../lab/model/model-endpoint.ts";
import { byPrompt, inOrder } from "../lab/model/script.ts";
import { mcp, say } from "../lab/model/step.ts";
import { SessionLab } from "../session/session-lab.ts";
import type { SessionSignal } from "../../src/session/session.ts";

let model: ModelEndpoint;
let lab: SessionLab | undefined;

afterEach(async () => {
  vi.unstubAllEnvs();
  lab?.tearDown();
  lab = undefined;
  await model.close();
});

const PROGRAMS: [name: AgentName, agent: string][] = [
  ["claude", "claude"],
  ["codex", "codex"],
  ["gemini", "acp:gemini --acp --skip-trust"],
];

const of = <T extends SessionSignal["type"]>(signals: SessionSignal[], type: T) =>
  signals.filter((signal): signal is Extract<SessionSignal, { type: T }> => signal.type === type);

test.each(PROGRAMS)(
  "%s reports, asks, completes and delegates by tools, without a permission and without a block",
  async (name, agent) => {
    model = await startModel(
      byPrompt({
        "Paint it": inOrder(
          [mcp("tutti", "report_progress", { percent: 30, action: "reading" })],
          [mcp("tutti", "ask", { question: "Which colour?", options: ["red", "blue"] })],
          [mcp("tutti", "attempt_completion", { result: 7 })],
          [mcp("tutti", "attempt_completion", { result: "success", summary: "painted" })],
          [say("I have reported.")],
        ),
        "Delegate it": inOrder(
          [mcp("tutti", "new_task", { mode: "code", message: "Mix the colour" })],
          [say("I have delegated it.")],
        ),
      }),
    );
    lab = new SessionLab();
    const { TMPDIR: _, ...env } = agentEnv(name, model, lab.folder);
    for (const [variable, value] of Object.entries(env)) vi.stubEnv(variable, value);
    const host = lab.newHost({ graceMs: 3000, agentEnv: name === "gemini" ? env : {} });
    const permissions = { mode: "edits" as const, allow: [], refuse: [] };
    const spec = lab.spec(agent, { permissions, delegation: { modes: [] } });
    const talk = new Conversation(host.open(spec), () => "blue");
    const received = await talk.turn(1, "Paint it");
    expect(model.problems).toEqual([]);
    expect(of(received, "ask")).toMatchObject([{ question: "Which colour?", options: ["red", "blue"] }]);
    expect(of(received, "ask")[0]).not.toHaveProperty("permission");
    expect(of(received, "report")).toMatchObject([
      { phase: "progress", data: { progress_percent: 30, current_action: "reading" } },
      { phase: "completion", data: { task_id: "task_001", status: "success", summary: "painted" } },
    ]);
    expect(of(received, "turnOver")[0]?.ending).toMatchObject({ kind: "ended" });
    // The model has seen the answer, and the path of the wrong argument. Gemini checks the schema itself.
    const { results } = model.requests.at(-1)!;
    expect(results[1]).toContain("blue");
    expect(results[2]).toMatch(/result.*must be (a )?string/);
    const delegated = await talk.turn(2, "Delegate it");
    expect(of(delegated, "report")).toEqual([
      { type: "report", phase: "new_task", data: { delegatedToMode: "code", objective: "Mix the colour" } },
    ]);
    expect(model.requests.at(-1)!.results.at(-1)).toContain("Each result reaches you with a later turn");
    await talk.end();
  },
);
