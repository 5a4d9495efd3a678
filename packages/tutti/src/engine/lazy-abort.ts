/** An `AbortController` that is created when its signal is needed: an `abort` without listeners still costs an event. */
export class LazyAbort {
  readonly #reason: string;
  #controller: AbortController | null = null;
  #isAborted = false;

  constructor(reason: string) {
    this.#reason = reason;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isAborted) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort(this.#reason);
  }
}
