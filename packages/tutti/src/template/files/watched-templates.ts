// `WatchedTemplates` emits events about templates: new, changed, deleted and invalid ones. Each state is emitted once,
// until it changes.
import { createHash } from "node:crypto";
import type { PlacedTemplate } from "./place.ts";
import type { RawTemplate } from "../raw-template.ts";
import type { RunEvent } from "../../schema/event.ts";

export type TemplateEvent = Extract<RunEvent, { type: `template:${string}` }>;

export class WatchedTemplates {
  readonly #emit: (event: TemplateEvent) => void;
  /** Maps an id to the hash of the content that was emitted last. */
  readonly #hashes = new Map<string, string>();
  /** Maps a file to the error that was emitted last. */
  readonly #errors = new Map<string, string>();

  constructor(emit: (event: TemplateEvent) => void) {
    this.#emit = emit;
  }

  stored(type: "template:created" | "template:updated", id: string, raw: RawTemplate): void {
    const hash = hashOf(raw);
    const { name } = raw;
    this.#hashes.set(id, hash);
    this.#emit({ type, data: { id, name: typeof name === "string" ? name : id, hash } });
  }

  deleted(id: string): void {
    if (this.#hashes.delete(id)) this.#emit({ type: "template:deleted", data: { id } });
  }

  /** Compares `templates`, the current state on disk, with the emitted events. */
  found(templates: readonly PlacedTemplate[]): void {
    for (const { id, raw, place, file, errors } of templates) {
      this.#foundError(file.path, errors.join(" "));
      if (raw === null) continue;
      const hash = hashOf(raw);
      if (this.#hashes.get(id) === hash) continue;
      this.#hashes.set(id, hash);
      this.#emit({ type: "template:loaded", data: { id, isSystem: place.name === "system", hash } });
    }
    const present = new Set(templates.map(({ id }) => id));
    for (const id of this.#hashes.keys()) if (!present.has(id)) this.deleted(id);
  }

  #foundError(file: string, error: string): void {
    if ((this.#errors.get(file) ?? "") === error) return;
    this.#errors.set(file, error);
    if (error !== "") this.#emit({ type: "template:error", data: { file, error } });
  }
}

const hashOf = (raw: RawTemplate): string =>
  createHash("sha256").update(JSON.stringify(raw)).digest("hex").slice(0, 16);
