import type { Command } from "commander";
import { collect, examples, type CommandAction } from "../command-parts.ts";

const load = () => import("./templates.ts");

export function addTemplateCommands(program: Command, action: CommandAction): void {
  const templates = program.command("templates").description("Show and manage templates");
  const command = (name: string, description: string): Command =>
    templates.command(name).description(description).option("--cwd <dir>", "Project whose templates are available too");

  examples(
    command("list", "List all templates")
      .option("--all", "Include templates that can only be extended")
      .action(action(load, "list")),
    "tutti templates list --all",
  );

  examples(
    command("show", "Show a template with everything it inherits")
      .argument("<id>", "Template id")
      .option("--raw", "Show only the content of its file")
      .option("--provenance", "Show the template that each value comes from")
      .action(action(load, "show")),
    "tutti templates show testing --provenance",
  );

  examples(
    command("validate", "Check a template and report every problem")
      .argument("<file>", "File with a template, or - for stdin")
      .action(action(load, "validate")),
    "tutti templates validate my-template.json",
  );

  examples(
    command("create", "Store a template for yourself or, with --cwd, in a project")
      .argument("<file>", "File with a template, or - for stdin")
      .action(action(load, "create")),
    "tutti templates create my-template.json --cwd .",
  );

  examples(
    command("import", "Store an exported template")
      .argument("<file>", "File with a template, or - for stdin")
      .action(action(load, "create")),
    "tutti templates import testing.json",
  );

  examples(
    command("export", "Export a template as it is in its file")
      .argument("<id>", "Template id")
      .argument("[file]", "File to write; it must not exist (default: stdout)")
      .action(action(load, "exportTo")),
    "tutti templates export testing testing.json",
  );

  examples(
    command("duplicate", "Create a template that extends another one")
      .argument("<id>", "Template id")
      .argument("<name>", "Name of the new template")
      .action(action(load, "duplicate")),
    'tutti templates duplicate testing "My tests"',
  );

  examples(
    command("delete", "Delete a template").argument("<id>", "Template id").action(action(load, "remove")),
    "tutti templates delete my-tests",
  );

  examples(
    command("preview", "Show the prompts of a template with example values")
      .argument("<id>", "Template id")
      .option("--var <K=V>", "Value for the prompts; repeatable", collect, [])
      .action(action(load, "preview")),
    "tutti templates preview testing --var LANGUAGE=Rust",
  );
}
