// Runs the conformance suite of the test agents with the real programs, against a model that obeys the prompt.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, vi } from "vitest";
import { agentProgram } from "../../../../scripts/agents.mjs";
import { agentEnv, type AgentName } from "../lab/model/agent-env.ts";
import { startModel } from "../lab/model/model-endpoint.ts";
import {
  awaitCodex,
  delegateToClaude,
  delegateToCodex,
  playOrders,
  type PlayOrdersOptions,
} from "../lab/model/play-orders.ts";
import { call } from "../lab/model/step.ts";
import { describeAgent, type Made } from "../session/conformance.ts";
import type { SessionLab } from "../session/session-lab.ts";

const PATIENCE_MS = 480_000;

describeAgent("claude", {
  patienceMs: PATIENCE_MS,
  make: (lab) => real(lab, "claude", { agent: "claude", tool: "Write", orders: { delegate: delegateToClaude } }),
});

describeAgent("codex", {
  patienceMs: PATIENCE_MS,
  make: (lab) => {
    const orders = { run: outsideOfSandbox, delegate: delegateToCodex, await: awaitCodex };
    return real(lab, "codex", { agent: "codex", tool: "Write", orders });
  },
});

describeAgent("acp:gemini", {
  patienceMs: PATIENCE_MS,
  make: (lab) => {
    // Gemini names a conversation's file by the minute, and overwrites an existing one with the same name.
    const beforeKill = () => sleep(60_000 - (Date.now() % 60_000) + 1000);
    const agent = `acp:${agentProgram("gemini")} --acp --skip-trust`;
    return real(lab, "gemini", { agent, tool: "Edit", beforeKill });
  },
});

describeAgent("acp:claude-agent-acp", {
  patienceMs: PATIENCE_MS,
  make: (lab) => {
    const agent = `acp:${agentProgram("claude-agent-acp")}`;
    return real(lab, "claude-agent-acp", { agent, tool: "Write", usesMore: true });
  },
});

describeAgent("acp:codex-acp", {
  patienceMs: PATIENCE_MS,
  make: (lab) => {
    const agent = `acp:${agentProgram("codex-acp")}`;
    return real(lab, "codex-acp", { agent, tool: "Edit", asksNobody: true });
  },
});

interface RealAgent extends Pick<Made, "agent" | "tool" | "beforeKill" | "asksNobody" | "usesMore"> {
  orders?: PlayOrdersOptions;
}

async function real(lab: SessionLab, name: AgentName, { orders, ...agent }: RealAgent): Promise<Made> {
  const model = await startModel(playOrders(orders));
  const env = agentEnv(name, model, lab.folder);
  // The user's configuration is in the environment of the engine, which is this process. TMPDIR is not set: a home
  // below the temporary folder is the usual case here.
  if (name === "codex") {
    delete env["TMPDIR"];
    for (const [key, value] of Object.entries(env)) vi.stubEnv(key, value);
    for (const key of ["OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL"]) vi.stubEnv(key, undefined);
  }
  return {
    ...agent,
    env,
    failure: { kind: "error", detail: expect.stringContaining("no such luck today") as string },
    runs: true,
    received: (words) => model.requests.filter(({ prompt, step }) => step === 0 && prompt.includes(words)).length,
    close: async () => {
      vi.unstubAllEnvs();
      expect(model.problems).toEqual([]);
      await model.close();
    },
  };
}

/** Codex requests permission only to leave its sandbox. */
const outsideOfSandbox = (cmd: string) =>
  call("exec_command", { cmd, sandbox_permissions: "require_escalated", justification: "It must be outside." });
