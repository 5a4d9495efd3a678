import { Option, type Command } from "commander";
import { examples, type CommandAction } from "../command-parts.ts";
import { TOKEN_ROLES } from "../../schema/token-role.ts";

type Tokens = typeof import("./tokens.ts");
const load = (): Promise<Tokens> => import("./tokens.ts");

export function addTokenCommands(program: Command, action: CommandAction): void {
  const tokens = program.command("tokens").description("Manage the named tokens of the server");

  examples(
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
      .action(
        action(async (output, name: string, flags: import("./tokens.ts").CreateFlags) =>
          (await load()).create(output, name, flags),
        ),
      ),
    "tutti tokens create wall-screen --role view",
    "tutti tokens create ci --role operate --expires 90 --quiet",
  );

  examples(
    tokens
      .command("list")
      .description("List all named tokens without their secrets")
      .action(action(async (output) => (await load()).list(output))),
    "tutti tokens list",
  );

  examples(
    tokens
      .command("revoke")
      .argument("<name>", "Name of the token")
      .description("Revoke a token at once")
      .action(action(async (output, name: string) => (await load()).revoke(output, name))),
    "tutti tokens revoke ci",
  );
}
