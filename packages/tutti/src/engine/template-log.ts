// What happens to templates, in the server's own log. What is merely found is written only if the log does not say it
// already: otherwise every start would tell of all templates again.
import type { RunEvent, StoredEvent } from "../schema/event.ts";
import type { ReadOptions } from "../store/store.ts";

type TemplateEvent = Extract<RunEvent, { type: `template:${string}` }>;

export interface TemplateLogOptions {
  events(options: ReadOptions): StoredEvent[];
  tell(event: RunEvent): Promise<unknown>;
}

export class TemplateLog {
  readonly #engine: () => TemplateLogOptions;
  /** By id: the content that the log told last. */
  readonly #hashes = new Map<string, string>();
  /** By file: what it told last to be wrong. */
  readonly #errors = new Map<string, string>();
  #isRead = false;
  #tellsFound = false;

  /** The engine is asked for when there is something to write. */
  constructor(engine: () => TemplateLogOptions) {
    this.#engine = engine;
  }

  /** From now on what is found is told too; engines of single commands keep quiet about it. */
  begin(): void {
    this.#tellsFound = true;
  }

  hear(event: TemplateEvent): void {
    const isFound = event.type === "template:loaded" || event.type === "template:error";
    if (isFound && !this.#tellsFound) return;
    this.#read();
    if (this.#isTold(event)) return;
    this.#take(event);
    // An engine that cannot write says so to everybody.
    this.#engine()
      .tell(event)
      .catch(() => {});
  }

  #isTold(event: TemplateEvent): boolean {
    if (event.type === "template:loaded") return this.#hashes.get(event.data.id) === event.data.hash;
    if (event.type === "template:error") return this.#errors.get(event.data.file ?? "") === event.data.error;
    return false;
  }

  #take(event: TemplateEvent): void {
    switch (event.type) {
      case "template:loaded":
      case "template:created":
      case "template:updated":
        // A file that makes sense again may be broken once more in the same way.
        for (const file of this.#errors.keys()) if (isFileOf(file, event.data.id)) this.#errors.delete(file);
        this.#hashes.set(event.data.id, event.data.hash ?? "");
        return;
      case "template:deleted":
        this.#hashes.delete(event.data.id);
        return;
      case "template:error":
        this.#errors.set(event.data.file ?? "", event.data.error);
    }
  }

  #read(): void {
    if (this.#isRead) return;
    this.#isRead = true;
    for (const event of this.#engine().events({ run: null })) {
      if (event.type.startsWith("template:")) this.#take(event as TemplateEvent & StoredEvent);
    }
  }
}

const isFileOf = (file: string, id: string): boolean => file.split(/[\\/]/).at(-1) === `${id}.json`;
