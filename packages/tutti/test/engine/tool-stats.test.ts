// Which kind of tool a name is: one table for all agents, by the names that they really use.
import { describe, expect, it } from "vitest";
import { countTool } from "../../src/engine/tool-stats.ts";
import { NO_TOOLS, type ToolStats } from "../../src/schema/worker.ts";

/** What one call of it adds to, without the total. */
const kindsOf = (name: string): (keyof ToolStats)[] => {
  const counted = countTool(NO_TOOLS, name);
  expect(counted.total).toBe(1);
  return (Object.keys(counted) as (keyof ToolStats)[]).filter((kind) => kind !== "total" && counted[kind] === 1);
};

/** Every one of the names is a tool of these kinds. */
function expectKinds(kinds: (keyof ToolStats)[], names: string): void {
  for (const name of names.split(" ")) expect(kindsOf(name), name).toEqual(kinds);
}

describe("a tool", () => {
  it("that reads (D4-093/E29)", () => {
    expectKinds(["reads"], "Read Reading read_file ReadFile NotebookRead LS read_many_files list_directory");
    expectKinds(["search", "glob"], "Glob glob");
  });

  it("that makes files (D4-094/E29)", () => expectKinds(["writes"], "Write Writing write_file WriteFile"));

  it("that changes files (D4-095/E29)", () =>
    expectKinds(["edits"], "Edit Editing edit_file EditFile MultiEdit NotebookEdit apply_patch replace"));

  it("that runs commands (D4-096/E29)", () =>
    expectKinds(["bash"], "Bash bash execute shell terminal run_shell_command local_shell exec_command"));

  it("that searches in files (D4-097/E29)", () => {
    expectKinds(["search", "grep"], "Grep grep ripgrep rg search_file_content");
    expectKinds(["search"], "search");
  });

  it("that goes to the web (D4-098/E29)", () =>
    expectKinds(["web"], "WebFetch WebSearch web_fetch web_search google_web_search"));

  it("that starts other agents or keeps plans (D4-099/E29)", () =>
    expectKinds(["task"], "Task Agent subagent TodoWrite write_todos update_plan"));

  it("that nobody knows only counts", () => expectKinds([], "mcp__tracker__search_issues constructor Skill"));
});

it("every call is counted once, and those before it stay counted", () => {
  const calls = ["Read", "Bash", "Read", "apply_patch", "unheard_of"];
  expect(calls.reduce(countTool, NO_TOOLS)).toEqual({ ...NO_TOOLS, total: 5, reads: 2, bash: 1, edits: 1 });
});
