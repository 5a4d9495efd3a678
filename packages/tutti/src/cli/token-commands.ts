// The commands on named tokens, as the command line offers them.
import { Option, type Command } from "commander";
import { examples, type Action } from "./command-parts.ts";
import { TOKEN_ROLES } from "../schema/token-role.ts";

type Tokens = typeof import("./tokens.ts");
const load = (): Promise<Tokens> => import("./tokens.ts");

export function addTokenCommands(program: Command, action: Action): void {
  const tokens = program.command("tokens").description("who else may use the server, and for what");

  examples(
    tokens
      .command("create")
      .argument("<name>", "whom or what it is for: 1 to 40 of a-z, 0-9 and -")
      .description("make a token and print it, this once")
      .addOption(
        new Option("--role <role>", "what it allows: to look; also to steer runs; or everything")
          .choices(TOKEN_ROLES)
          .makeOptionMandatory(),
      )
      .option("--expires <days>", "after how many days it no longer counts (default: never)")
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
      .description("all named tokens, without their secrets")
      .action(action(async (output) => (await load()).list(output))),
    "tutti tokens list",
  );

  examples(
    tokens
      .command("revoke")
      .argument("<name>", "the token's name")
      .description("cut off whoever uses a token")
      .action(action(async (output, name: string) => (await load()).revoke(output, name))),
    "tutti tokens revoke ci",
  );
}
