// What a list of templates shows of each.
import type { Placed, TemplatePlace } from "./place.ts";

export interface TemplateSummary {
  id: string;
  name: string;
  description: string;
  icon: string | null;
  author: string;
  version: string;
  tags: string[];
  isSystem: boolean;
  /** Meant to be extended rather than chosen; its id begins with `_`. */
  isInternal: boolean;
  extends: string | null;
  place: TemplatePlace["name"];
  /** Whether a run can be started with it; with errors all the same, an earlier version of it is in use. */
  valid: boolean;
  errors: string[];
}

export function summarise({ id, place, raw, resolution, errors }: Placed): TemplateSummary {
  // Of a template that cannot be used, what its file says is better than nothing.
  const shown = resolution?.template ?? raw ?? {};
  const text = (name: string, otherwise: string): string => textOf(shown, name) ?? otherwise;
  const tags: unknown = Reflect.get(shown, "tags");
  return {
    id,
    name: text("name", id),
    description: text("description", ""),
    icon: textOf(shown, "icon") ?? null,
    author: text("author", ""),
    version: text("version", ""),
    tags: Array.isArray(tags) ? tags.map(String) : [],
    isSystem: place.name === "system",
    isInternal: id.startsWith("_"),
    extends: textOf(shown, "extends") ?? null,
    place: place.name,
    valid: resolution !== null,
    errors: [...errors],
  };
}

function textOf(shown: object, name: string): string | undefined {
  const value: unknown = Reflect.get(shown, name);
  return typeof value === "string" ? value : undefined;
}
