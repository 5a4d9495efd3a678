import type { ToolStats } from "../../schema/worker.ts";

type Kind = Exclude<keyof ToolStats, "total" | "failed" | "glob" | "grep">;

/** Names of document 004 and of Claude Code, Codex and Gemini. `letters` ignores case and other characters. */
const NAMES: Record<Kind, string> = {
  reads: "Read Reading ReadFile read_many_files NotebookRead LS list_directory list_dir view view_image",
  writes: "Write Writing WriteFile create_file",
  edits: "Edit Editing EditFile MultiEdit NotebookEdit replace str_replace apply_patch",
  bash: "Bash shell execute terminal run_shell_command local_shell local_shell_call exec_command unified_exec container.exec",
  search: "Glob Grep search ripgrep rg search_file_content grep_search find_files",
  web: "WebFetch WebSearch google_web_search web_search_call",
  task: "Task Agent subagent TodoWrite write_todos update_plan",
};

const letters = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]/g, "");

const KINDS = new Map<string, Kind>(
  Object.entries(NAMES).flatMap(([kind, names]) => names.split(" ").map((name) => [letters(name), kind as Kind])),
);

/** Kinds of search that `ToolStats` also counts separately. */
const SEARCH_KINDS: Readonly<Record<string, "glob" | "grep">> = {
  glob: "glob",
  findfiles: "glob",
  grep: "grep",
  grepsearch: "grep",
  ripgrep: "grep",
  rg: "grep",
  searchfilecontent: "grep",
};

export function countTool(stats: ToolStats, name: string): ToolStats {
  const key = letters(name);
  const kind = KINDS.get(key);
  const searchKind = Object.hasOwn(SEARCH_KINDS, key) ? SEARCH_KINDS[key] : undefined;
  return {
    ...stats,
    total: stats.total + 1,
    ...(kind ? { [kind]: stats[kind] + 1 } : {}),
    ...(searchKind ? { [searchKind]: stats[searchKind] + 1 } : {}),
  };
}
