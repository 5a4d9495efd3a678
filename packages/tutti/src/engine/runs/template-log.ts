// `TemplateLog` records template events in the server's log. It writes `template:loaded` and `template:error` only if
// they differ from the last ones in the log; otherwise every start would write all templates again.
import type { RunEvent, StoredEvent } from "../../schema/event.ts";
import type { EventQuery } from "../../store/store.ts";

type TemplateEvent = Extract<RunEvent, { type: `template:${string}` }>;

interface TemplateLogOptions {
  events(options: EventQuery): StoredEvent[];
  append(event: RunEvent): Promise<unknown>;
}

export class TemplateLog {
  readonly #engine: () => TemplateLogOptions;
  /** Maps a template id to the last logged hash. */
  readonly #hashes = new Map<string, string>();
  /** Maps a file to the last logged error. */
  readonly #errors = new Map<string, string>();
  #isRead = false;
  #writesFound = false;

  /** `engine` is called on the first event, because the engine is opened after the templates. */
  constructor(engine: () => TemplateLogOptions) {
    this.#engine = engine;
  }

  /** From now on `template:loaded` and `template:error` are written too; engines of single commands skip them. */
  begin(): void {
    this.#writesFound = true;
  }

  record(event: TemplateEvent): void {
    const isFound = event.type === "template:loaded" || event.type === "template:error";
    if (isFound && !this.#writesFound) return;
    this.#read();
    if (this.#isLogged(event)) return;
    this.#remember(event);
    // A failed write halts the engine, which reports it.
    this.#engine()
      .append(event)
      .catch(() => {});
  }

  #isLogged(event: TemplateEvent): boolean {
    if (event.type === "template:loaded") return this.#hashes.get(event.data.id) === event.data.hash;
    if (event.type === "template:error") return this.#errors.get(event.data.file ?? "") === event.data.error;
    return false;
  }

  #remember(event: TemplateEvent): void {
    switch (event.type) {
      case "template:loaded":
      case "template:created":
      case "template:updated":
        // After a valid load, the same error must be logged again.
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
      if (event.type.startsWith("template:")) this.#remember(event as TemplateEvent & StoredEvent);
    }
  }
}

const isFileOf = (file: string, id: string): boolean => file.split(/[\\/]/).at(-1) === `${id}.json`;
