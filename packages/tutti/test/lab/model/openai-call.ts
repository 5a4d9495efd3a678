// A tool call for the tools that Codex offers, which depend on its version and model.
import { randomUUID } from "node:crypto";
import type { ModelRequest } from "./model-request.ts";
import type { Step } from "./step.ts";

type Call = Extract<Step, { kind: "write" | "run" | "call" | "mcp" }>;

export function openaiCall(request: ModelRequest, step: Call, id: string): object {
  const common = { id: `fc_${id}`, call_id: `call_${randomUUID()}`, status: "completed" };
  const named = (name: string, input: object) => ({
    ...common,
    type: "function_call",
    name,
    arguments: JSON.stringify(input),
  });
  const shell = (command: string) => {
    if (request.tools.includes("exec_command")) return named("exec_command", { cmd: command });
    if (request.tools.includes("shell_command")) return named("shell_command", { command });
    return named("shell", { command: ["bash", "-lc", command] });
  };
  switch (step.kind) {
    case "run":
      return shell(step.command);
    case "call": {
      // `multi_agent.spawn` is the tool `spawn` of a namespace.
      const [namespace, tool] = step.tool.split(".");
      return tool === undefined ? named(step.tool, step.input) : { ...named(tool, step.input), namespace };
    }
    case "mcp":
      return { ...named(step.tool, step.input), namespace: `mcp__${step.server}` };
    case "write": {
      const patch = addFilePatch(step.path, step.content);
      const tool = (request.body as { tools?: { name?: string; type: string }[] }).tools?.find(
        ({ name }) => name === "apply_patch",
      );
      if (tool?.type === "custom") return { ...common, type: "custom_tool_call", name: "apply_patch", input: patch };
      if (tool !== undefined) return named("apply_patch", { input: patch });
      return shell(`apply_patch <<'END_OF_PATCH'\n${patch}\nEND_OF_PATCH`);
    }
  }
}

function addFilePatch(path: string, content: string): string {
  const lines = content.replace(/\n$/, "").split("\n");
  return ["*** Begin Patch", `*** Add File: ${path}`, ...lines.map((line) => `+${line}`), "*** End Patch"].join("\n");
}
