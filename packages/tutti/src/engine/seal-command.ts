import type { Command } from "../run/command.ts";
import type { NewEvent } from "../store/store.ts";

/** A `Vault` keeps the secrets that users write into texts out of the log. */
export interface Vault {
  /** Returns `value` with placeholders for its secrets, which only `open` turns back. */
  seal<T>(run: string, value: T): T;
  open<T>(run: string, value: T): T;
  /** Returns `value` with placeholders that nothing turns back. */
  hide<T>(value: T): T;
  /** Lets run `to` open the placeholders of run `from`. */
  copy(from: string, to: string): void;
  remove(run: string): void;
}

/** `NO_VAULT` is for engines in memory and in simulations. */
export const NO_VAULT: Vault = {
  seal: (_, value) => value,
  open: (_, value) => value,
  hide: (value) => value,
  copy: () => {},
  remove: () => {},
};

/**
 * Seals the texts of users, hooks and check commands. `Command`s with texts of agents are masked before they reach the
 * engine.
 */
export function sealCommand(command: Command, seal: <T>(value: T) => T): Command {
  switch (command.type) {
    case "create": {
      const { template } = command;
      const texts = { prompts: seal(template.prompts), variables: seal(template.variables) };
      const { message, customVariables } = seal({ message: command.message, customVariables: command.customVariables });
      return { ...command, message, customVariables, template: { ...template, ...texts } };
    }
    case "message":
    case "requestChanges":
      return { ...command, text: seal(command.text) };
    case "confirm":
    case "edit":
      return command.changes ? { ...command, changes: seal(command.changes) } : command;
    case "answer":
    case "supply":
    case "respond":
      return { ...command, answer: seal(command.answer) } as Command;
    case "decide":
      return { ...command, decisions: seal(command.decisions) };
    case "checked":
    case "mergeChecked":
    case "mergeRejected":
      return { ...command, commands: seal(command.commands) };
    case "unpreparable":
      return { ...command, error: seal(command.error) };
    case "hookEnded":
      return { ...command, detail: seal(command.detail) };
    default:
      return command;
  }
}

/** `cwd` and `agent` of an imported run are no texts, and must stay usable. */
export function sealEvents(events: readonly NewEvent[], seal: <T>(value: T) => T): NewEvent[] {
  return events.map((event) => {
    const { cwd, agent, ...texts } = event.data as Record<string, unknown>;
    const kept = Object.fromEntries(Object.entries({ cwd, agent }).filter(([, value]) => value !== undefined));
    return { ...event, data: { ...seal(texts), ...kept } } as NewEvent;
  });
}
