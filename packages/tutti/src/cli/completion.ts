// `tutti completion`: scripts for shells, made from the table of commands, so that they know what there is.
import type { Argument, Command } from "commander";
import type { Output } from "./output.ts";
import { pathOf } from "./program.ts";
import { TuttiError } from "../schema/error.ts";

/** One place in the command line: what can come after these words. */
interface Place {
  /** The words that lead there, joined: `templates show`. */
  path: string;
  words: string[];
  flags: string[];
  /** Whether the first argument is the id of a run, an item of the inbox, or a template. */
  argument: "run" | "item" | "template" | null;
}

export async function completion(output: Output, shell: string, program: Command): Promise<number> {
  const write = Object.hasOwn(SHELLS, shell) ? SHELLS[shell]! : null;
  if (!write) throw new TuttiError("usage", `there is completion for bash, zsh and fish, not for ${shell}`);
  const script = write(placesOf(program));
  output.value({ shell, script });
  // As it is: a shell reads it, and nobody but this program has written it.
  if (!output.json) process.stdout.write(script);
  return 0;
}

function placesOf(program: Command): Place[] {
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

function argumentOf(argument: Argument | undefined): Place["argument"] {
  if (argument?.name() === "id") return argument.description.startsWith("the template") ? "template" : "run";
  if (argument?.name() === "item" || argument?.name() === "template") return argument.name() as "item" | "template";
  return null;
}

/** What lists the ids of a kind, one in a line. Asked at the moment of completing; what fails completes nothing. */
const LISTED: Record<NonNullable<Place["argument"]>, string> = {
  run: `tutti list --quiet 2>/dev/null | cut -d' ' -f1`,
  item: `tutti inbox --quiet 2>/dev/null | grep -o '^item_[^ ]*'`,
  template: `tutti templates list --quiet 2>/dev/null | cut -d' ' -f1`,
};

const quoted = (words: readonly string[]): string => `'${words.join(" ")}'`;

/** The words before the one that is completed, without flags, lead to the place. */
function bash(places: readonly Place[]): string {
  const cases = places.map(({ path, words, flags, argument }) => {
    const list = argument === null ? "" : ` words="$(${LISTED[argument]})"`;
    return `    ${quoted([path])}) words=${quoted(words)}; flags=${quoted(flags)};${list} ;;`;
  });
  return `_tutti() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" path= words= flags= i word
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case " ${[...new Set(places.map(({ path }) => path).filter((path) => path !== ""))].map((path) => path.replaceAll(" ", "/")).join(" ")} " in
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

/** zsh runs the completion of bash by itself. */
const zsh = (places: readonly Place[]): string => `autoload -U +X bashcompinit && bashcompinit\n${bash(places)}`;

function fish(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, words, flags, argument }) => {
    const seen = path.split(" ").filter((word) => word !== "");
    const here =
      seen.length === 0 ? "__fish_use_subcommand" : seen.map((w) => `__fish_seen_subcommand_from ${w}`).join("; and ");
    const add = (what: string) => `complete -c tutti -n '${here}' ${what}`;
    return [
      ...words.map((word) => add(`-f -a ${word}`)),
      ...flags.map((flag) => add(flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`)),
      ...(argument === null ? [] : [add(`-f -a "(${LISTED[argument]})"`)]),
    ];
  });
  return `${lines.join("\n")}\n`;
}

const SHELLS: Record<string, (places: readonly Place[]) => string> = { bash, zsh, fish };
