// Each `Command` that carries a text from outside reaches the log without its secrets.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { CANARIES, leaksIn } from "../session/canaries.ts";
import { sealCommand } from "../../src/engine/seal-command.ts";
import type { Command } from "../../src/run/command.ts";
import { createSecrets } from "../../src/session/secrets/find-secrets.ts";
import { SecretVault } from "../../src/session/secrets/secret-vault.ts";

const KEY = CANARIES.find(({ name }) => name === "Anthropic")!.printed;
const folder = mkdtempSync(join(tmpdir(), "tutti-seal-"));
afterAll(() => rmSync(folder, { recursive: true }));
const vault = new SecretVault({ folder: join(folder, "vault"), secrets: () => createSecrets([]) });

const message = { type: "completion_report", body: { summary: KEY }, exact: true, reasons: [KEY], faults: [] };
const commands = [{ name: "tests", run: `curl ${KEY}`, exitCode: 1, durationMs: 1, output: KEY }];
const template = {
  prompts: { worker: { system: KEY } },
  config: { agent: `command:a ${KEY}`, permissions: { mode: "ask", allow: [`Bash(curl ${KEY}*)`], refuse: [] } },
  phases: { analysis: { agent: `command:b ${KEY}` }, verification: { commands: [{ name: "c", run: `c ${KEY}` }] } },
  workspace: { setup: [{ name: "d", run: `d ${KEY}` }] },
  hooks: { onError: { run: `command:e ${KEY}` } },
  roles: { WRITER: { agent: `command:f ${KEY}` } },
  pipeline: [{ id: "one", role: "WRITER", title: KEY, requirements: [KEY], acceptanceCriteria: [KEY] }],
};

it.each<[string, object]>([
  ["create", { template, message: KEY, customVariables: { deep: [KEY] }, agent: `command:g ${KEY}` }],
  ["start", { base: "0", warnings: [KEY] }],
  ["overrideGate", { environment: "staging", by: "ann", reason: KEY }],
  ["message", { taskId: null, text: KEY }],
  ["requestChanges", { text: KEY }],
  ["confirm", { changes: { added: [{ id: "a", title: KEY }] } }],
  ["edit", { changes: { tasks: { a: { description: KEY } } } }],
  ["supply", { itemId: "i", answer: { phase: "analysis", data: { summary: KEY } } }],
  ["respond", { answer: { phase: "analysis", data: { summary: KEY } } }],
  ["decide", { decisions: [{ index: 0, text: KEY }] }],
  ["answer", { itemId: "i", answer: { text: KEY } }],
  [
    "turnOver",
    { over: { messages: [message], answer: { phase: "completion", data: { summary: KEY } }, problems: [KEY] } },
  ],
  ["lost", { sessionId: "s", reason: KEY, counted: true }],
  ["unpreparable", { sessionId: "s", code: "setup_failed", error: KEY }],
  ["environment", { error: KEY, output: KEY }],
  ["fault", { operation: "merge", error: KEY, code: "x" }],
  ["mishap", { operation: "cleanup", error: KEY, code: "x" }],
  ["checked", { sessionId: "s", commit: "0", commands }],
  ["mergeChecked", { tasks: ["a"], commit: "0", commands }],
  ["mergeRejected", { taskId: "a", commit: "0", head: "0", start: "0", commands }],
  ["hookStarted", { hook: { name: "onError", cause: 1, run: `command:h ${KEY}` } }],
  ["hookEnded", { hook: { name: "onError", cause: 1, run: `command:h ${KEY}` }, ok: false, detail: KEY }],
  ["record", { event: { type: "protocol:ignored", data: { id: "orch_1", phase: "x", reason: KEY } } }],
])("seals the texts of %s, and the vault opens them", (type, members) => {
  const command = { type, ...members } as unknown as Command;
  const sealed = sealCommand(command, (value) => vault.seal("orch_1", value));
  expect(leaksIn(JSON.stringify(sealed))).toEqual([]);
  expect(vault.open("orch_1", sealed)).toEqual(command);
});
