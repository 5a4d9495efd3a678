import { findOnPath, type RequiredProgram } from "../lab/required-program.ts";

/** The shells that `tutti completion` supports. */
export const SHELLS = ["bash", "zsh", "fish"].map((name): RequiredProgram => ({
  name,
  packages: [name],
  find: () => findOnPath(name),
  advice: `${name} was not found. Install it so that it is on PATH.`,
}));
