import type { ArgumentProblem } from "./explain-arguments.ts";

/** A tool throws `InvalidArguments` if they fit its schema, but not the situation. */
export class InvalidArguments extends Error {
  readonly problems: readonly ArgumentProblem[];

  constructor(problems: readonly ArgumentProblem[]) {
    super("The arguments are invalid.");
    this.name = "InvalidArguments";
    this.problems = problems;
  }
}
