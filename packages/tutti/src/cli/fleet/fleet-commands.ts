import { type CliCommand, collect, type CommandAction } from "../command-parts.ts";

const hosts = () => import("./hosts.ts");

const DATABASE = "Address of the database, postgres://USER:PASSWORD@HOST:PORT/DATABASE";

export function addFleetCommands(program: CliCommand, action: CommandAction): void {
  program
    .command("worker")
    .description("Run sessions on this machine for a server with a database")
    .requiredOption("--database-url <url>", DATABASE)
    .option("--label <key=value>", "Offer a label to tasks that ask for it; repeatable", collect, [])
    .option("--capacity <n>", "Most sessions at a time (default: by memory)")
    .option("--repository <remote>", "Remote to clone from and push to (default: that of the run's folder)")
    .option("--agent-env <name=value>", "Variable for all agents of this host; repeatable", collect, [])
    .option("--grace <seconds>", "Time for sessions to finish after SIGTERM", "30")
    .action(action(() => import("./worker.ts"), "worker"))
    .withExamples("tutti worker --database-url postgres://tutti@db.example/tutti --label gpu=yes --capacity 4");

  const command = program.command("hosts").description("List and manage the worker hosts");
  command
    .command("list", { isDefault: true })
    .description("List the worker hosts with their labels, load and tasks")
    .option("--database-url <url>", `${DATABASE} (default: ask the server)`)
    .action(action(hosts, "list"))
    .withExamples("tutti hosts list", "tutti hosts list --json | jq '.[] | select(.state == \"lost\")'");
  command
    .command("add")
    .argument("<name>", "Name of the host: 1 to 40 of a-z, 0-9, _ and -")
    .description("Create a login for a host and print its address once")
    .requiredOption("--database-url <url>", `${DATABASE}, with a login that may create roles`)
    .action(action(hosts, "add"))
    .withExamples("tutti hosts add gpu-1 --database-url postgres://owner@db.example/tutti");
  const changes = [
    ["drain", "Give a host no more work; its sessions finish"],
    ["undrain", "Give a drained host work again"],
    ["remove", "Remove a host and its login; its work is retried elsewhere"],
  ] as const;
  for (const [name, description] of changes)
    command
      .command(name)
      .argument("<id>", "Id or name of the host")
      .description(description)
      .option("--database-url <url>", `${DATABASE} (default: ask the server)`)
      .action(action(hosts, name))
      .withExamples(`tutti hosts ${name} gpu-1`);
}
