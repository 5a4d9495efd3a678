// `LiveSettings` are read again at each use. While the file is invalid, for example during an edit, the last valid
// settings stay in force, and `read` returns the problem with them.
import type { Automation } from "./settings.ts";
import { asTuttiError, TuttiError } from "../schema/error.ts";

export type ReportProblem = (message: string, members: Readonly<Record<string, unknown>>) => void;

export class LiveSettings {
  readonly #read: () => Automation;
  readonly #report: ReportProblem;
  #last: Automation;
  #problem: string | null = null;

  /** Throws if `read` does, so a server does not start with invalid settings. */
  constructor(read: () => Automation, report: ReportProblem) {
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
      if (message !== this.#problem) this.#report("configuration is invalid", { reason: message });
      this.#problem = message;
    }
    return { ...this.#last, problem: this.#problem };
  }
}

/** Throws if there is a `problem`. A run cannot start then, because the same file defines the agents. */
export function demandSound(problem: string | null): void {
  if (problem !== null)
    throw new TuttiError("wrong_state", `No run can start while the configuration is invalid. Correct it: ${problem}`);
}
