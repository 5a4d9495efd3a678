// Settings that are read again at each use. A file that is broken while somebody edits it changes nothing: what it said
// last goes on, and the problem is told to whoever looks.
import type { Automation } from "./settings.ts";
import { asTuttiError, TuttiError } from "../schema/error.ts";

/** Tells whoever looks after the server of something that went wrong. */
export type Report = (message: string, members: Readonly<Record<string, unknown>>) => void;

export class LiveSettings {
  readonly #read: () => Automation;
  readonly #report: Report;
  #last: Automation;
  #problem: string | null = null;

  /** What is broken from the beginning is refused. */
  constructor(read: () => Automation, report: Report) {
    this.#read = read;
    this.#report = report;
    this.#last = read();
  }

  read(): Automation & { problem: string | null } {
    try {
      this.#last = this.#read();
      this.#problem = null;
    } catch (error) {
      const { message } = asTuttiError(error);
      if (message !== this.#problem) this.#report("the configuration cannot be used", { error: message });
      this.#problem = message;
    }
    return { ...this.#last, problem: this.#problem };
  }
}

/** No run can be made while its configuration cannot be read: the names of agents stand in the same file. */
export function demandSound(problem: string | null): void {
  if (problem !== null) throw new TuttiError("wrong_state", `nothing is started for now: ${problem}`);
}
