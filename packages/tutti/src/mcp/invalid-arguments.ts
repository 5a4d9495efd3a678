import type { ArgumentProblem } from "./explain-arguments.ts";

/** Thrown by a tool for arguments that fit its schema, but not the situation. */
export class InvalidArguments extends Error {
  readonly problems: readonly ArgumentProblem[];

  constructor(problems: readonly ArgumentProblem[]) {
    super("The arguments are invalid.");
    this.name = "InvalidArguments";
    this.problems = problems;
  }
}
