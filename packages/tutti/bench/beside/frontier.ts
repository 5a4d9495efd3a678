// Finds the tasks that can start: the coordinator that users of a queue write themselves.
import { GRAPH } from "./layered-graph.ts";

export class Frontier {
  readonly #open = new Map(GRAPH.map(({ id, needs }) => [id, needs.length]));
  readonly #dependents = new Map<string, string[]>(GRAPH.map(({ id }) => [id, []]));
  readonly #done = new Set<string>();
  readonly #finish = Promise.withResolvers<void>();

  constructor() {
    for (const { id, needs } of GRAPH) for (const needed of needs) this.#dependents.get(needed)!.push(id);
  }

  ready(): string[] {
    return GRAPH.filter(({ id }) => this.#open.get(id) === 0 && !this.#done.has(id)).map(({ id }) => id);
  }

  /** Returns the tasks that this makes ready. A repeated call has no effect. */
  ended(id: string): string[] {
    if (this.#done.has(id)) return [];
    this.#done.add(id);
    if (this.#done.size === GRAPH.length) this.#finish.resolve();
    return this.#dependents.get(id)!.filter((dependent) => {
      const open = this.#open.get(dependent)! - 1;
      this.#open.set(dependent, open);
      return open === 0;
    });
  }

  get finished(): Promise<void> {
    return this.#finish.promise;
  }
}
