// The script for a shell only passes the words to `completeWords`, so that all shells complete the same.
import type { Command } from "commander";
import { completeWords } from "./complete-words.ts";
import type { Output } from "../terminal/output.ts";
import { TuttiError } from "../../schema/error.ts";

export async function completion(
  output: Output,
  shell: string,
  words: string[],
  _: unknown,
  command: Command,
): Promise<number> {
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell]! : null;
  if (script === null)
    throw new TuttiError("usage", `There is no completion script for "${shell}". Choose bash, zsh or fish.`);
  if (words.length > 0) {
    const found = await completeWords(command.parent!, words);
    output.value(found);
    for (const word of found) output.result(word);
    return 0;
  }
  output.value({ shell, script });
  // Unlike `output.result`, does not escape: a shell reads the script, and no part of it comes from agents.
  if (!output.json) process.stdout.write(script);
  return 0;
}

const SCRIPTS: Record<string, string> = {
  bash: `_tutti() {
  local IFS=$'\\n' cur="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=($(tutti completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [[ \${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "$cur"))
}
complete -o filenames -F _tutti tutti
`,
  // The first line makes it a function to load from `fpath`, and the last lines work with and without `compinit`.
  zsh: `#compdef tutti
_tutti() {
  local -a found
  found=("\${(@f)$(tutti completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n $found[1] ]]; then compadd -U -a found; else _files; fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _tutti "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
  compdef _tutti tutti
fi
`,
  fish: `function __tutti_complete
  set -l words (commandline -opc)
  set -e words[1]
  set -l current (commandline -ct)
  set -l found (tutti completion fish -- $words "$current" 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path "$current"
  end
end
complete -c tutti -f -a '(__tutti_complete)'
`,
};
