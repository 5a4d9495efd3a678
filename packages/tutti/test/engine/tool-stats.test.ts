// The kinds of tools, by the names that agents really use.
import { describe, expect, it } from "vitest";
import { countTool } from "../../src/engine/sessions/tool-stats.ts";
import { NO_TOOLS, type ToolStats } from "../../src/schema/worker.ts";

/** The counters that one call of the tool increments, except the total. */
const kindsOf = (name: string): (keyof ToolStats)[] => {
  const counted = countTool(NO_TOOLS, name);
  expect(counted.total).toBe(1);
  return (Object.keys(counted) as (keyof ToolStats)[]).filter((kind) => kind !== "total" && counted[kind] === 1);
};

/** Expects each name to be a tool of exactly these kinds. */
function expectKinds(kinds: (keyof ToolStats)[], names: string): void {
  for (const name of names.split(" ")) expect(kindsOf(name), name).toEqual(kinds);
}

describe("`countTool`", () => {
  it("counts tools that read files (D4-093/E29)", () => {
    expectKinds(["reads"], "Read Reading read_file ReadFile NotebookRead LS read_many_files list_directory");
    expectKinds(["search", "glob"], "Glob glob");
  });

  it("counts tools that create files (D4-094/E29)", () =>
    expectKinds(["writes"], "Write Writing write_file WriteFile"));

  it("counts tools that change files (D4-095/E29)", () =>
    expectKinds(["edits"], "Edit Editing edit_file EditFile MultiEdit NotebookEdit apply_patch replace"));

  it("counts tools that run commands (D4-096/E29)", () =>
    expectKinds(["bash"], "Bash bash execute shell terminal run_shell_command local_shell exec_command"));

  it("counts tools that search in files (D4-097/E29)", () => {
    expectKinds(["search", "grep"], "Grep grep ripgrep rg search_file_content");
    expectKinds(["search"], "search");
  });

  it("counts tools that access the web (D4-098/E29)", () =>
    expectKinds(["web"], "WebFetch WebSearch web_fetch web_search google_web_search"));

  it("counts tools that start agents or manage plans (D4-099/E29)", () =>
    expectKinds(["task"], "Task Agent subagent TodoWrite write_todos update_plan"));

  it("counts unknown tools only in the total", () => expectKinds([], "mcp__tracker__search_issues constructor Skill"));
});

it("`countTool` adds one call to the earlier ones", () => {
  const calls = ["Read", "Bash", "Read", "apply_patch", "unheard_of"];
  expect(calls.reduce(countTool, NO_TOOLS)).toEqual({ ...NO_TOOLS, total: 5, reads: 2, bash: 1, edits: 1 });
});
