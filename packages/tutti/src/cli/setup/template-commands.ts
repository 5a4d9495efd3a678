import { type CliCommand, collect, type CommandAction } from "../command-parts.ts";

const load = () => import("./templates.ts");

export function addTemplateCommands(program: CliCommand, action: CommandAction): void {
  const templates = program.command("templates").description("Show and manage templates");
  const command = (name: string, description: string): CliCommand =>
    templates.command(name).description(description).option("--cwd <dir>", "Project whose templates are available too");

  command("list", "List all templates")
    .option("--all", "Include templates that can only be extended")
    .action(action(load, "list"))
    .withExamples("tutti templates list --all");

  command("show", "Show a template with everything it inherits")
    .argument("<id>", "Template id")
    .option("--raw", "Show only the content of its file")
    .option("--provenance", "Show the template that each value comes from")
    .action(action(load, "show"))
    .withExamples("tutti templates show testing --provenance");

  command("validate", "Check a template and report every problem")
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

  command("export", "Export a template as it is in its file")
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

  command("preview", "Show the prompts of a template with example values")
    .argument("<id>", "Template id")
    .option("--var <K=V>", "Value for the prompts; repeatable", collect, [])
    .action(action(load, "preview"))
    .withExamples("tutti templates preview testing --var LANGUAGE=Rust");
}
