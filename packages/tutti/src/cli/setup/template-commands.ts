import type { Command } from "commander";
import { collect, examples, type CommandAction } from "../command-parts.ts";

type Templates = typeof import("./templates.ts");
const load = (): Promise<Templates> => import("./templates.ts");
type Flags = import("./templates.ts").TemplateFlags;

export function addTemplateCommands(program: Command, action: CommandAction): void {
  const templates = program.command("templates").description("Show and manage templates");
  const command = (name: string, description: string): Command =>
    templates.command(name).description(description).option("--cwd <dir>", "Project whose templates are available too");

  examples(
    command("list", "List all templates")
      .option("--all", "Include templates that can only be extended")
      .action(action(async (output, flags: Flags & { all?: boolean }) => (await load()).list(output, flags))),
    "tutti templates list --all",
  );

  examples(
    command("show", "Show a template with everything it inherits")
      .argument("<id>", "Template id")
      .option("--raw", "Show only the content of its file")
      .option("--provenance", "Show the template that each value comes from")
      .action(
        action(async (output, id: string, flags: import("./templates.ts").ShowFlags) =>
          (await load()).show(output, id, flags),
        ),
      ),
    "tutti templates show testing --provenance",
  );

  examples(
    command("validate", "Check a template and report every problem")
      .argument("<file>", "File with a template, or - for stdin")
      .action(action(async (output, file: string, flags: Flags) => (await load()).validate(output, file, flags))),
    "tutti templates validate my-template.json",
  );

  examples(
    command("create", "Store a template for yourself or, with --cwd, in a project")
      .argument("<file>", "File with a template, or - for stdin")
      .action(action(async (output, file: string, flags: Flags) => (await load()).create(output, file, flags))),
    "tutti templates create my-template.json --cwd .",
  );

  examples(
    command("import", "Store an exported template")
      .argument("<file>", "File with a template, or - for stdin")
      .action(action(async (output, file: string, flags: Flags) => (await load()).create(output, file, flags))),
    "tutti templates import testing.json",
  );

  examples(
    command("export", "Export a template as it is in its file")
      .argument("<id>", "Template id")
      .argument("[file]", "File to write; it must not exist (default: stdout)")
      .action(
        action(async (output, id: string, file: string | undefined, flags: Flags) =>
          (await load()).exportTo(output, id, file, flags),
        ),
      ),
    "tutti templates export testing testing.json",
  );

  examples(
    command("duplicate", "Create a template that extends another one")
      .argument("<id>", "Template id")
      .argument("<name>", "Name of the new template")
      .action(
        action(async (output, id: string, name: string, flags: Flags) =>
          (await load()).duplicate(output, id, name, flags),
        ),
      ),
    'tutti templates duplicate testing "My tests"',
  );

  examples(
    command("delete", "Delete a template")
      .argument("<id>", "Template id")
      .action(action(async (output, id: string, flags: Flags) => (await load()).remove(output, id, flags))),
    "tutti templates delete my-tests",
  );

  examples(
    command("preview", "Show the prompts of a template with example values")
      .argument("<id>", "Template id")
      .option("--var <K=V>", "Value for the prompts; repeatable", collect, [])
      .action(
        action(async (output, id: string, flags: Flags & { var: string[] }) =>
          (await load()).preview(output, id, flags),
        ),
      ),
    "tutti templates preview testing --var LANGUAGE=Rust",
  );
}
