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
 * Seals the texts of users, of programs that the engine runs and of files that agents write. The output of agents is
 * masked before it reaches the engine. A sealed command, agent or pattern is opened where it is used.
 */
export function sealCommand(command: Command, seal: <T>(value: T) => T): Command {
  switch (command.type) {
    case "create": {
      const { message, customVariables, template, agent } = command;
      return { ...command, ...seal({ message, customVariables, template, agent }) };
    }
    case "start":
      return { ...command, warnings: seal(command.warnings) };
    case "overrideGate":
    case "lost":
      return { ...command, reason: seal(command.reason) };
    case "turnOver": {
      // Reports of the mailbox come from files, which no session masks.
      const { messages, answer, problems } = command.over;
      return messages ? { ...command, over: { ...command.over, ...seal({ messages, answer, problems }) } } : command;
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
    case "environment":
    case "fault":
    case "mishap":
    case "unpreparable":
    // The template of a run that an earlier version stored is not sealed, so neither is the command of its hook.
    case "hookStarted":
    case "hookEnded":
      return seal(command);
    case "record":
      return { ...command, event: seal(command.event) };
    default:
      return command;
  }
}

/** `cwd` of an imported run is no text, and must stay usable. */
export function sealEvents(events: readonly NewEvent[], seal: <T>(value: T) => T): NewEvent[] {
  return events.map((event) => {
    const { cwd, ...texts } = event.data as Record<string, unknown>;
    return { ...event, data: { ...seal(texts), ...(cwd === undefined ? {} : { cwd }) } } as NewEvent;
  });
}
