// `toolsOf` translates items of a Codex conversation to tool lines, with the tool names of Claude Code.
import { basename, isAbsolute, relative, resolve } from "node:path";
import { listOf, numberOf, recordOf, textOf, textOrNull, type Fields } from "../../json-fields.ts";
import type { AgentLine } from "../../dialogue.ts";
import { MAX_ERROR } from "../dialogue-parts.ts";
import { realPath, type ToolRequest } from "../../permission.ts";
import { splitCommand } from "../../split-command.ts";

type ToolLine = Extract<AgentLine, { type: "tool" }>;

/** A change of files has one line per file. `toolsOf` is empty for items that are not tool calls. */
export function toolsOf(item: Fields): (ToolLine & { id: string })[] {
  const id = textOf(item["id"]);
  return callsOf(item).map((call, i) => ({ type: "tool", id: i === 0 ? id : `${id}/${i}`, ...call }));
}

/** Null if the call of a completed item succeeded. */
export function whyFailed(item: Fields): string | null {
  const failed = item["status"] === "failed" || item["success"] === false || (numberOf(item["exitCode"]) ?? 0) !== 0;
  if (!failed) return null;
  const code = numberOf(item["exitCode"]);
  const said = textOrNull(recordOf(item["error"])["message"]) ?? textOrNull(item["aggregatedOutput"])?.trimEnd();
  const reason = said ?? "it gave no reason";
  return (code === null ? reason : `exit code ${code}: ${reason}`).slice(0, MAX_ERROR);
}

/** `resultOf` is the text that the call of a completed item returned; "" for changes of files. */
export function resultOf(item: Fields): string {
  const content = listOf(recordOf(item["result"])["content"]).map((part) => textOf(part["text"]));
  return textOrNull(item["aggregatedOutput"]) ?? content.join("\n");
}

type Call = Pick<ToolLine, "name" | "input">;

function callsOf(item: Fields): Call[] {
  const tool = (name: string, input: unknown): Call[] => [{ name, input }];
  switch (item["type"]) {
    case "commandExecution":
      // Interaction with a running command is not a new command.
      if (item["source"] === "unifiedExecInteraction") return [];
      return tool("Bash", { command: scriptOf(textOf(item["command"])) });
    case "fileChange":
      return changesOf(item).map(({ name, path, kind }) => ({ name, input: { file_path: path, change: kind } }));
    case "mcpToolCall": {
      const [server, name] = [textOrNull(item["server"]) ?? "unknown", textOrNull(item["tool"]) ?? "unknown"];
      return tool(`mcp__${server}__${name}`, item["arguments"] ?? null);
    }
    case "dynamicToolCall":
      return tool(textOrNull(item["tool"]) ?? "Other", item["arguments"] ?? null);
    case "collabAgentToolCall":
      return item["tool"] === "spawnAgent" ? tool("Agent", { prompt: textOf(item["prompt"]) }) : [];
    case "webSearch":
      return tool("WebSearch", { query: textOf(item["query"]) });
    case "imageView":
      return tool("Read", { file_path: textOf(item["path"]) });
    default:
      return [];
  }
}

interface Change {
  name: "Write" | "Edit";
  path: string;
  kind: string;
}

/** A moved file counts as two changes. */
function changesOf(item: Fields): Change[] {
  return listOf(item["changes"]).flatMap((change) => {
    const { type, move_path: moved } = recordOf(change["kind"]);
    const kind = textOrNull(type) ?? "update";
    const name = kind === "add" ? "Write" : "Edit";
    return [textOrNull(change["path"]), textOrNull(moved)].flatMap((path) =>
      path === null ? [] : [{ name, path, kind }],
    );
  });
}

/** `editRequests` has one request per file; all of them must be allowed. */
export function editRequests(item: Fields, cwd: string): ToolRequest[] {
  const requests = changesOf(item).map(({ name, path }): ToolRequest => ({
    tool: name,
    kind: "edit",
    subject: shortPath(path, cwd),
  }));
  return requests.length > 0 ? requests : [{ tool: "Edit", kind: "edit", subject: "" }];
}

/** `shortPath` is relative to `cwd` for files in the workspace, absolute for all others. */
function shortPath(path: string, cwd: string): string {
  const absolute = resolve(cwd, path);
  const inside = [cwd, realPath(cwd)]
    .map((folder) => relative(folder, absolute))
    .find((from) => from !== "" && from !== ".." && !from.startsWith("../") && !isAbsolute(from));
  return inside ?? absolute;
}

export function commandRequest(params: Fields): ToolRequest {
  const { host, protocol } = recordOf(params["networkApprovalContext"]);
  if (textOrNull(host) !== null)
    return { tool: "WebFetch", kind: "other", subject: `${textOrNull(protocol) ?? "https"}://${textOf(host)}` };
  // The request does not contain the text for a running program's stdin. Its command must not count as the subject.
  const typed = params["kind"] === "writeStdin";
  return { tool: "Bash", kind: "command", subject: typed ? "" : scriptOf(textOf(params["command"])) };
}

const SHELLS = new Set(["sh", "bash", "zsh", "dash"]);

/** Removes the shell in which Codex runs every command. */
function scriptOf(command: string): string {
  const [shell, flag, script, ...more] = wordsOf(command);
  const isScript = shell !== undefined && SHELLS.has(basename(shell)) && (flag === "-lc" || flag === "-c");
  return isScript && script !== undefined && more.length === 0 ? script : command;
}

function wordsOf(command: string): string[] {
  try {
    return splitCommand(command);
  } catch {
    return [];
  }
}
