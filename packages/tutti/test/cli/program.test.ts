import { expect, it, test } from "vitest";
import { calledCommand, createProgram } from "../../src/cli/program.ts";

const runner = () => async () => {};
const whole = createProgram(runner);

it.each(whole.commands.map((command) => command.name()).filter((name) => name !== "completion"))(
  "the table for a call of %s declares it like the whole table, and less beside it",
  (name) => {
    const part = createProgram(runner, name);
    const [own] = part.commands.filter((command) => command.name() === name);
    const declared = whole.commands.find((command) => command.name() === name)!;
    expect(own?.helpInformation()).toBe(declared.helpInformation());
    expect(own!.commands.map((each) => each.helpInformation())).toEqual(
      declared.commands.map((each) => each.helpInformation()),
    );
    expect(part.commands.length).toBeLessThan(whole.commands.length);
  },
);

test("the table for a missing or unknown command is the whole one, so that help and completion are complete", () => {
  for (const called of [undefined, "help", "completion", "lits"])
    expect(createProgram(runner, called).commands).toHaveLength(whole.commands.length);
});

test.each([
  [["list", "--json"], "list"],
  [["--json", "--data-dir", "serve", "list"], "list"],
  [["--url", "http://127.0.0.1", "--token", "x", "--quiet", "--no-color", "status", "list"], "status"],
  [["--version", "list"], "--version"],
  [["--data-dir=x", "list"], "--data-dir=x"],
  [["--data-dir"], undefined],
  [[], undefined],
])("the command that %j calls is %s", (argv, name) => expect(calledCommand(argv)).toBe(name));
