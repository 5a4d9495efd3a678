// The objects and lists that are open while a text is read, outermost first.
import { skipSpace } from "./json-gap.ts";

/** `(` is a Python tuple, read as a list; `call` the parentheses of a type wrapper, which are left out. */
export type Container = "{" | "[" | "(" | "call";

/** As deep as containers may be nested. */
export const MAX_DEPTH = 200;

const CLOSERS: Record<Container, number> = { "{": 125, "[": 93, "(": 41, call: 41 };
const WRITTEN: Record<Container, string> = { "{": "}", "[": "]", "(": "]", call: "" };

export class ContainerStack {
  readonly #containers: Container[] = [];
  /** Where each of them begins in the text. */
  readonly #starts: number[] = [];

  get depth(): number {
    return this.#containers.length;
  }

  get top(): Container | undefined {
    return this.#containers[this.#containers.length - 1];
  }

  /** Whether the innermost one is closed by this bracket. */
  isClosedBy(code: number): boolean {
    const { top } = this;
    if (top === "{") return code === 125;
    return top === "[" ? code === 93 : top !== undefined && code === 41;
  }

  push(container: Container, start: number): void {
    this.#starts[this.#containers.length] = start;
    this.#containers.push(container);
  }

  pop(): void {
    this.#containers.pop();
  }

  /** How many containers are still open inside the innermost one that this bracket closes; -1 if it closes none. */
  openInside(code: number): number {
    const index = this.#containers.findLastIndex((container) => CLOSERS[container] === code);
    return index === -1 ? -1 : this.#containers.length - 1 - index;
  }

  /** The brackets that close everything that is open, as JSON writes them. */
  closing(): string {
    return this.#containers
      .toReversed()
      .map((container) => WRITTEN[container])
      .join("");
  }

  /**
   * Closes the innermost container and gives the bracket for it; null for one that cannot be closed by guessing. In a
   * list of lists nobody can tell a bracket that is missing from an opening one that is too many.
   */
  closeByGuess(text: string): string | null {
    const { top } = this;
    const start = this.#starts[this.depth - 1] ?? 0;
    if (top === undefined || top === "call" || text.charCodeAt(skipSpace(text, start + 1)) === 91) return null;
    this.pop();
    return WRITTEN[top];
  }
}
