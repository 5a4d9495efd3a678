import { expect, it } from "vitest";
import { enqueue } from "../../src/workspace/queue.ts";

/** Operations that begin when the queue lets them, and end when `end` is called. */
class Operations {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, () => void>();
  readonly #results = new Map<string, Promise<void>>();

  add(name: string, lanes?: readonly string[], key = "repository"): void {
    const task = () => {
      this.begun.push(name);
      return new Promise<void>((resolve) => this.#ends.set(name, resolve));
    };
    this.#results.set(name, enqueue(key, task, lanes));
  }

  async end(name: string): Promise<void> {
    await expect.poll(() => this.#ends.has(name)).toBe(true);
    this.#ends.get(name)!();
    await this.#results.get(name);
  }

  async expectBegun(...names: string[]): Promise<void> {
    await expect.poll(() => this.begun).toEqual(names);
    // An operation that must wait would begin in one of the next microtasks.
    await new Promise((resolve) => void setImmediate(resolve));
    expect(this.begun).toEqual(names);
  }
}

it("lets operations without a common lane run side by side, and those with one in the order of their calls", async () => {
  const operations = new Operations();
  operations.add("first of a", ["a"]);
  operations.add("second of a", ["list", "a"]);
  operations.add("only b", ["b"]);
  operations.add("third of a", ["a"]);
  await operations.expectBegun("first of a", "only b");
  await operations.end("first of a");
  await operations.expectBegun("first of a", "only b", "second of a");
  await operations.end("second of a");
  await operations.end("third of a");
  await operations.end("only b");
});

it("runs an operation without lanes alone, after all earlier and before all later ones of its repository", async () => {
  const operations = new Operations();
  operations.add("a", ["a"]);
  operations.add("b", ["b"]);
  operations.add("alone");
  operations.add("later", ["c"]);
  operations.add("elsewhere", undefined, "another repository");
  await operations.expectBegun("a", "b", "elsewhere");
  await operations.end("a");
  await operations.expectBegun("a", "b", "elsewhere");
  await operations.end("b");
  await operations.expectBegun("a", "b", "elsewhere", "alone");
  await operations.end("alone");
  await operations.expectBegun("a", "b", "elsewhere", "alone", "later");
  await operations.end("later");
  await operations.end("elsewhere");
});

it("continues after an operation that failed", async () => {
  const failing = enqueue("repository", () => Promise.reject(new Error("no disk")), ["a"]);
  const next = enqueue("repository", async () => "done", ["a"]);
  await expect(failing).rejects.toThrow("no disk");
  expect(await next).toBe("done");
});
