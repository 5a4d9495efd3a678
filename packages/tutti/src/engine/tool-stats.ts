// Tool calls counted by kind. The names are those of the tools themselves as agents report them, never words in a text.
import type { ToolStats } from "../schema/worker.ts";

const KINDS: Record<string, Exclude<keyof ToolStats, "total" | "glob" | "grep">> = {
  read: "reads",
  readfile: "reads",
  write: "writes",
  writefile: "writes",
  edit: "edits",
  multiedit: "edits",
  editfile: "edits",
  applypatch: "edits",
  notebookedit: "edits",
  bash: "bash",
  shell: "bash",
  execute: "bash",
  terminal: "bash",
  glob: "search",
  grep: "search",
  search: "search",
  ripgrep: "search",
  webfetch: "web",
  websearch: "web",
  task: "task",
  agent: "task",
};

export function countTool(stats: ToolStats, name: string): ToolStats {
  const key = name.toLowerCase().replaceAll(/[^a-z]/g, "");
  const kind = Object.hasOwn(KINDS, key) ? KINDS[key] : undefined;
  const counted = { ...stats, total: stats.total + 1, ...(kind ? { [kind]: stats[kind] + 1 } : {}) };
  return key === "glob" || key === "grep" ? { ...counted, [key]: stats[key] + 1 } : counted;
}
