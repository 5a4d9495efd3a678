// What is told of templates: which there are, what changes, and what cannot be used. Each thing is told once, until it is
// different.
import { createHash } from "node:crypto";
import type { Placed } from "./place.ts";
import type { RawTemplate } from "./raw-template.ts";
import type { RunEvent } from "../schema/event.ts";

export type TemplateEvent = Extract<RunEvent, { type: `template:${string}` }>;

export class ToldTemplates {
  readonly #tell: (event: TemplateEvent) => void;
  /** By id: the content that was told last. */
  readonly #hashes = new Map<string, string>();
  /** By file: what was last told to be wrong with it. */
  readonly #errors = new Map<string, string>();

  constructor(tell: (event: TemplateEvent) => void) {
    this.#tell = tell;
  }

  /** Somebody has stored a template through us. */
  stored(type: "template:created" | "template:updated", id: string, raw: RawTemplate): void {
    const hash = hashOf(raw);
    const { name } = raw;
    this.#hashes.set(id, hash);
    this.#tell({ type, data: { id, name: typeof name === "string" ? name : id, hash } });
  }

  deleted(id: string): void {
    if (this.#hashes.delete(id)) this.#tell({ type: "template:deleted", data: { id } });
  }

  /** What is on disk now. */
  found(templates: readonly Placed[]): void {
    for (const { id, raw, place, file, errors } of templates) {
      this.#found(file.path, errors.join(" "));
      if (raw === null) continue;
      const hash = hashOf(raw);
      if (this.#hashes.get(id) === hash) continue;
      this.#hashes.set(id, hash);
      this.#tell({ type: "template:loaded", data: { id, isSystem: place.name === "system", hash } });
    }
    const there = new Set(templates.map(({ id }) => id));
    for (const id of this.#hashes.keys()) if (!there.has(id)) this.deleted(id);
  }

  #found(file: string, error: string): void {
    if ((this.#errors.get(file) ?? "") === error) return;
    this.#errors.set(file, error);
    if (error !== "") this.#tell({ type: "template:error", data: { file, error } });
  }
}

const hashOf = (raw: RawTemplate): string =>
  createHash("sha256").update(JSON.stringify(raw)).digest("hex").slice(0, 16);
