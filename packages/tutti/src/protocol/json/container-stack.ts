import { skipSpace } from "./json-gap.ts";

/** `(` is a Python tuple, written as a list. `call` is a type wrapper; its parentheses are dropped. */
export type Container = "{" | "[" | "(" | "call";

export const MAX_DEPTH = 200;

const CLOSERS: Record<Container, number> = { "{": 125, "[": 93, "(": 41, call: 41 };
const JSON_CLOSERS: Record<Container, string> = { "{": "}", "[": "]", "(": "]", call: "" };

export class ContainerStack {
  readonly #containers: Container[] = [];
  readonly #starts: number[] = [];

  get depth(): number {
    return this.#containers.length;
  }

  get top(): Container | undefined {
    return this.#containers[this.#containers.length - 1];
  }

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

  /** Counts the open containers inside the innermost one that `code` closes; `openInside` is -1 if it closes none. */
  openInside(code: number): number {
    const index = this.#containers.findLastIndex((container) => CLOSERS[container] === code);
    return index === -1 ? -1 : this.#containers.length - 1 - index;
  }

  closing(): string {
    return this.#containers
      .toReversed()
      .map((container) => JSON_CLOSERS[container])
      .join("");
  }

  /**
   * Closes the innermost container and returns its bracket; null if the guess is unsafe. In a list of lists,
   * `closeByGuess` cannot distinguish a missing closing bracket from an extra opening one.
   */
  closeByGuess(text: string): string | null {
    const { top } = this;
    const start = this.#starts[this.depth - 1] ?? 0;
    if (top === undefined || top === "call" || text.charCodeAt(skipSpace(text, start + 1)) === 91) return null;
    this.pop();
    return JSON_CLOSERS[top];
  }
}
