// `prompt` asks the user at the terminal. Callers check `isTerminal` first.
import { createInterface } from "node:readline/promises";
import type { Output } from "./output.ts";
import { isStdinTerminal, openStdin } from "./stdin.ts";
import { TuttiError } from "../../schema/error.ts";

export const isTerminal = (output: Output): boolean => isStdinTerminal() && process.stdout.isTTY && !output.json;

export const endOfInput = (): TuttiError =>
  new TuttiError("needs_confirmation", "The question was not answered. Repeat the command and answer it.");

export async function prompt(question: string, signal: AbortSignal): Promise<string> {
  // `terminal: false` keeps the settings of the terminal: they could not be restored once its window is closed.
  const terminal = createInterface({ input: openStdin(), output: process.stdout, terminal: false });
  try {
    return await terminal.question(question, { signal });
  } catch (error) {
    // `AbortError` also means end of input. After an interrupt the caller ends the command itself.
    throw (error as Error).name === "AbortError" ? endOfInput() : error;
  } finally {
    terminal.close();
  }
}

/** Like `prompt`, but returns null when `answeredElsewhere` resolves first. */
export async function promptUntil(
  question: string,
  signal: AbortSignal,
  answeredElsewhere: Promise<unknown>,
): Promise<string | null> {
  const elsewhere = new AbortController();
  answeredElsewhere.then(
    () => elsewhere.abort(),
    () => {},
  );
  try {
    return await prompt(question, AbortSignal.any([signal, elsewhere.signal]));
  } catch (error) {
    if (!elsewhere.signal.aborted || signal.aborted) throw error;
    process.stdout.write("\n");
    return null;
  }
}
