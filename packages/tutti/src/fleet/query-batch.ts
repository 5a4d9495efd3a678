interface BatchedItem<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * `QueryBatch` collects items while `work` is busy, and passes all of them to its next call. So items that wait together
 * share one transaction, and a single item waits for none.
 */
export class QueryBatch<Item, Result> {
  readonly #work: (items: Item[]) => Promise<readonly Result[]>;
  #waiting: BatchedItem<Item, Result>[] = [];
  #isBusy = false;

  /** `work` returns one result per item, in their order. */
  constructor(work: (items: Item[]) => Promise<readonly Result[]>) {
    this.#work = work;
  }

  add(item: Item): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ item, resolve, reject });
    if (!this.#isBusy) void this.#run();
    return promise;
  }

  async #run(): Promise<void> {
    this.#isBusy = true;
    // All sessions that one notification or one append wakes share the first call.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const taken = this.#waiting;
      this.#waiting = [];
      try {
        const results = await this.#work(taken.map(({ item }) => item));
        for (const [i, { resolve }] of taken.entries()) resolve(results[i]!);
      } catch (error) {
        for (const { reject } of taken) reject(error);
      }
    }
    this.#isBusy = false;
  }
}
