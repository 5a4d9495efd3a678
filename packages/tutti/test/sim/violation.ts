// A broken invariant.

export class Violation extends Error {
  readonly invariant: string;

  constructor(invariant: string, message: string) {
    super(`${invariant}: ${message}`);
    this.name = "Violation";
    this.invariant = invariant;
  }
}
