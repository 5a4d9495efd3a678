import { type CliCommand, collect, type CommandAction } from "../command-parts.ts";

const load = () => import("./templates.ts");

export function addTemplateCommands(program: CliCommand, action: CommandAction): void {
  const templates = program.command("templates").description("Show and manage templates");
  const command = (name: string, description: string, cwd = "Project whose templates are available too"): CliCommand =>
    templates.command(name).description(description).option("--cwd <dir>", cwd);
  const reading = (name: string, description: string): CliCommand =>
    command(name, description, "Project whose templates are available too (default: that of the current folder)");

  reading("list", "List all templates")
    .option("--all", "Include templates that can only be extended")
    .action(action(load, "list"))
    .withExamples("tutti templates list --all");

  reading("show", "Show a template with everything it inherits")
    .argument("<id>", "Template id")
    .option("--raw", "Show only the content of its file")
    .option("--provenance", "Show the template that each value comes from")
    .action(action(load, "show"))
    .withExamples("tutti templates show testing --provenance");

  reading("validate", "Check a template and report every problem")
    .argument("<file>", "File with a template, or - for stdin")
    .action(action(load, "validate"))
    .withExamples("tutti templates validate my-template.json");

  command("create", "Store a template for yourself or, with --cwd, in a project")
    .argument("<file>", "File with a template, or - for stdin")
    .action(action(load, "create"))
    .withExamples("tutti templates create my-template.json --cwd .");

  command("import", "Store an exported template")
    .argument("<file>", "File with a template, or - for stdin")
    .action(action(load, "create"))
    .withExamples("tutti templates import testing.json");

  reading("export", "Export a template as it is in its file")
    .argument("<id>", "Template id")
    .argument("[file]", "File to write; it must not exist (default: stdout)")
    .action(action(load, "exportTo"))
    .withExamples("tutti templates export testing testing.json");

  command("duplicate", "Create a template that extends another one")
    .argument("<id>", "Template id")
    .argument("<name>", "Name of the new template")
    .action(action(load, "duplicate"))
    .withExamples('tutti templates duplicate testing "My tests"');

  command("delete", "Delete a template")
    .argument("<id>", "Template id")
    .action(action(load, "remove"))
    .withExamples("tutti templates delete my-tests");

  reading("preview", "Show the prompts of a template with example values")
    .argument("<id>", "Template id")
    .option("--var <K=V>", "Value for the prompts; repeatable", collect, [])
    .action(action(load, "preview"))
    .withExamples("tutti templates preview testing --var LANGUAGE=Rust");
}
