// Asking the person at the terminal; never without one.
import { createInterface } from "node:readline/promises";
import type { Output } from "./output.ts";
import { TuttiError } from "../schema/error.ts";

export const isTerminal = (output: Output): boolean => process.stdin.isTTY && process.stdout.isTTY && !output.json;

export async function prompt(question: string, signal: AbortSignal): Promise<string> {
  // The terminal keeps its own way of editing a line: one whose settings were changed could not be closed in order.
  const terminal = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  try {
    return await terminal.question(question, { signal });
  } catch (error) {
    // End of input is no answer; an interrupt is dealt with by whoever waits for it.
    if ((error as Error).name === "AbortError") throw new TuttiError("needs_confirmation", "nobody answered");
    throw error;
  } finally {
    terminal.close();
  }
}

/** The same, unless it is answered elsewhere meanwhile: then null. */
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
