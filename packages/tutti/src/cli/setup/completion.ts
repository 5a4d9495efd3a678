// `tutti completion`: generates shell scripts from the command table, so that they cover every command and flag.
import type { Argument, Command } from "commander";
import type { Output } from "../terminal/output.ts";
import { pathOf } from "../program.ts";
import { TuttiError } from "../../schema/error.ts";

/** A position in the command line and its possible continuations. */
interface Position {
  /** The command words before the position, such as `templates show`. */
  path: string;
  words: string[];
  flags: string[];
  argument: "run" | "item" | "template" | null;
}

export async function completion(output: Output, shell: string, _: unknown, command: Command): Promise<number> {
  const write = Object.hasOwn(SHELLS, shell) ? SHELLS[shell]! : null;
  if (!write) throw new TuttiError("usage", `There is no completion script for "${shell}". Choose bash, zsh or fish.`);
  const script = write(positionsOf(command.parent!));
  output.value({ shell, script });
  // Printed without escaping: a shell reads the script, and no part of it comes from agents.
  if (!output.json) process.stdout.write(script);
  return 0;
}

function positionsOf(program: Command): Position[] {
  const globals = flagsOf(program);
  const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
  return all(program).map((command) => ({
    path: pathOf(command).join(" "),
    words: command.commands.map((each) => each.name()),
    flags: [...new Set([...flagsOf(command), ...globals, "--help"])],
    argument: argumentOf(command.registeredArguments[0]),
  }));
}

const flagsOf = (command: Command): string[] =>
  command.options.flatMap(({ long, short }) => [long, short]).filter((flag) => flag !== undefined);

function argumentOf(argument: Argument | undefined): Position["argument"] {
  if (argument?.name() === "id") return argument.description.startsWith("Template") ? "template" : "run";
  if (argument?.name() === "item" || argument?.name() === "template") return argument.name() as "item" | "template";
  return null;
}

/** Shell commands for `argument`: each prints the ids of a kind, one per line, at completion time. */
const ID_COMMANDS: Record<NonNullable<Position["argument"]>, string> = {
  run: `tutti list --quiet 2>/dev/null | grep -o '^orch_[^ ]*'`,
  item: `tutti inbox --quiet 2>/dev/null | grep -o '^item_[^ ]*'`,
  template: `tutti templates list --quiet 2>/dev/null | cut -d' ' -f1`,
};

const quoted = (words: readonly string[]): string => `'${words.join(" ")}'`;

/** The script follows the words before the cursor that name commands, and ignores flags and arguments. */
function bash(positions: readonly Position[]): string {
  const cases = positions.map(({ path, words, flags, argument }) => {
    const list = argument === null ? "" : ` words="$(${ID_COMMANDS[argument]})"`;
    return `    ${quoted([path])}) words=${quoted(words)}; flags=${quoted(flags)};${list} ;;`;
  });
  return `_tutti() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" path= words= flags= i word
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case " ${[...new Set(positions.map(({ path }) => path).filter((path) => path !== ""))].map((path) => path.replaceAll(" ", "/")).join(" ")} " in
      *" \${path:+$path/}$word "*) path="\${path:+$path/}$word" ;;
    esac
  done
  case "\${path//\\// }" in
${cases.join("\n")}
  esac
  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$cur"))
  else COMPREPLY=($(compgen -W "$words" -- "$cur")); fi
  [[ \${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "$cur"))
}
complete -o filenames -F _tutti tutti
`;
}

/** zsh runs bash scripts through `bashcompinit`. */
const zsh = (positions: readonly Position[]): string =>
  `autoload -U +X bashcompinit && bashcompinit\n${bash(positions)}`;

function fish(positions: readonly Position[]): string {
  const lines = positions.flatMap(({ path, words, flags, argument }) => {
    const seen = path.split(" ").filter((word) => word !== "");
    const here =
      seen.length === 0 ? "__fish_use_subcommand" : seen.map((w) => `__fish_seen_subcommand_from ${w}`).join("; and ");
    const add = (what: string) => `complete -c tutti -n '${here}' ${what}`;
    return [
      ...words.map((word) => add(`-f -a ${word}`)),
      ...flags.map((flag) => add(flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`)),
      ...(argument === null ? [] : [add(`-f -a "(${ID_COMMANDS[argument]})"`)]),
    ];
  });
  return `${lines.join("\n")}\n`;
}

const SHELLS: Record<string, (positions: readonly Position[]) => string> = { bash, zsh, fish };
