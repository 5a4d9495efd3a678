// The commands on templates, as the command line offers them.
import type { Command } from "commander";
import { collect, examples, type Action } from "./command-parts.ts";

type Templates = typeof import("./templates.ts");
const load = (): Promise<Templates> => import("./templates.ts");
type Flags = import("./templates.ts").TemplateFlags;

export function addTemplateCommands(program: Command, action: Action): void {
  const templates = program.command("templates").description("the ways in which runs can be carried out");
  const command = (name: string, description: string): Command =>
    templates
      .command(name)
      .description(description)
      .option("--cwd <dir>", "the project whose own templates are meant too");

  examples(
    command("list", "all templates")
      .option("--all", "also those that are only there to be extended")
      .action(action(async (output, flags: Flags & { all?: boolean }) => (await load()).list(output, flags))),
    "tutti templates list --all",
  );

  examples(
    command("show", "a template with all it inherits")
      .argument("<id>", "the template")
      .option("--raw", "only what stands in its file")
      .option("--provenance", "where each of its values comes from")
      .action(
        action(async (output, id: string, flags: import("./templates.ts").ShowFlags) =>
          (await load()).show(output, id, flags),
        ),
      ),
    "tutti templates show testing --provenance",
  );

  examples(
    command("validate", "check a template and report every problem")
      .argument("<file>", "a file with a template, or - for the standard input")
      .action(action(async (output, file: string, flags: Flags) => (await load()).validate(output, file, flags))),
    "tutti templates validate my-template.json",
  );

  examples(
    command("create", "store a template, among your own or with --cwd in the project")
      .argument("<file>", "a file with a template, or - for the standard input")
      .action(action(async (output, file: string, flags: Flags) => (await load()).create(output, file, flags))),
    "tutti templates create my-template.json --cwd .",
  );

  examples(
    command("import", "store a template that was exported")
      .argument("<file>", "a file with a template, or - for the standard input")
      .action(action(async (output, file: string, flags: Flags) => (await load()).create(output, file, flags))),
    "tutti templates import testing.json",
  );

  examples(
    command("export", "write a template as it stands in its file")
      .argument("<id>", "the template")
      .argument("[file]", "where to; it must not be there yet (default: the standard output)")
      .action(
        action(async (output, id: string, file: string | undefined, flags: Flags) =>
          (await load()).exportTo(output, id, file, flags),
        ),
      ),
    "tutti templates export testing testing.json",
  );

  examples(
    command("duplicate", "make a template that extends another and can be changed")
      .argument("<id>", "the template")
      .argument("<name>", "the name of the new one")
      .action(
        action(async (output, id: string, name: string, flags: Flags) =>
          (await load()).duplicate(output, id, name, flags),
        ),
      ),
    'tutti templates duplicate testing "My tests"',
  );

  examples(
    command("delete", "delete a template")
      .argument("<id>", "the template")
      .action(action(async (output, id: string, flags: Flags) => (await load()).remove(output, id, flags))),
    "tutti templates delete my-tests",
  );

  examples(
    command("preview", "show the prompts of a template with example values")
      .argument("<id>", "the template")
      .option("--var <K=V>", "a value for the prompts; repeatable", collect, [])
      .action(
        action(async (output, id: string, flags: Flags & { var: string[] }) =>
          (await load()).preview(output, id, flags),
        ),
      ),
    "tutti templates preview testing --var LANGUAGE=Rust",
  );
}
