import { Option } from "commander";
import type { CliCommand, CommandAction } from "../command-parts.ts";
import { TOKEN_ROLES } from "../../schema/token-role.ts";

const load = () => import("./tokens.ts");

export function addTokenCommands(program: CliCommand, action: CommandAction): void {
  const tokens = program.command("tokens").description("Manage the named tokens of the server");

  tokens
    .command("create")
    .argument("<name>", "Name of the token: 1 to 40 of a-z, 0-9 and -")
    .description("Create a token and print it once")
    .addOption(
      new Option("--role <role>", "Role of the token: look at runs, also steer them, or everything")
        .choices(TOKEN_ROLES)
        .makeOptionMandatory(),
    )
    .option("--expires <days>", "Days until the token expires (default: never)")
    .action(action(load, "create"))
    .withExamples(
      "tutti tokens create wall-screen --role view",
      "tutti tokens create ci --role operate --expires 90 --quiet",
    );

  tokens
    .command("list")
    .description("List all named tokens without their secrets")
    .action(action(load, "list"))
    .withExamples("tutti tokens list");

  tokens
    .command("revoke")
    .argument("<name>", "Name of the token")
    .description("Revoke a token at once")
    .action(action(load, "revoke"))
    .withExamples("tutti tokens revoke ci");
}
