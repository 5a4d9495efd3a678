// Which kind of tool a name is: one table for all agents, by the names that they really use.
import { describe, expect, test } from "vitest";
import { countTool } from "../../src/engine/tool-stats.ts";
import { NO_TOOLS, type ToolStats } from "../../src/schema/worker.ts";

/** What one call of it adds to, without the total. */
const kindsOf = (name: string): (keyof ToolStats)[] => {
  const counted = countTool(NO_TOOLS, name);
  expect(counted.total).toBe(1);
  return (Object.keys(counted) as (keyof ToolStats)[]).filter((kind) => kind !== "total" && counted[kind] === 1);
};

const TABLE: [title: string, kinds: (keyof ToolStats)[], names: string][] = [
  [
    "reading (D4-093, E29)",
    ["reads"],
    "Read Reading read_file ReadFile NotebookRead LS read_many_files list_directory",
  ],
  ["new files (D4-094, E29)", ["writes"], "Write Writing write_file WriteFile"],
  ["changes (D4-095, E29)", ["edits"], "Edit Editing edit_file EditFile MultiEdit NotebookEdit apply_patch replace"],
  ["commands (D4-096, E29)", ["bash"], "Bash bash execute shell terminal run_shell_command local_shell exec_command"],
  ["search in files (D4-097, E29)", ["search", "grep"], "Grep grep ripgrep rg search_file_content"],
  ["search for files (D4-093, E29)", ["search", "glob"], "Glob glob"],
  ["any other search (D4-097, E29)", ["search"], "search"],
  ["the web (D4-098, E29)", ["web"], "WebFetch WebSearch web_fetch web_search google_web_search"],
  ["other agents and plans (D4-099, E29)", ["task"], "Task Agent subagent TodoWrite write_todos update_plan"],
  ["what nobody knows, which only counts", [], "mcp__tracker__search_issues constructor Skill"],
];

describe.each(TABLE)("%s", (_title, kinds, names) => {
  test.each(names.split(" "))("%s", (name) => {
    expect(kindsOf(name)).toEqual(kinds);
  });
});

test("every call is counted once, and those before it stay counted (D4-100)", () => {
  const calls = ["Read", "Bash", "Read", "apply_patch", "unheard_of"];
  expect(calls.reduce(countTool, NO_TOOLS)).toEqual({ ...NO_TOOLS, total: 5, reads: 2, bash: 1, edits: 1 });
});
