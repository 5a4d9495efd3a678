// What the simulation says when something is wrong: which promise was broken, and how.

export class Violation extends Error {
  readonly invariant: string;

  constructor(invariant: string, message: string) {
    super(`${invariant}: ${message}`);
    this.name = "Violation";
    this.invariant = invariant;
  }
}
