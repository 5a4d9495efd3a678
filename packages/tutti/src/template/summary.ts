import type { PlacedTemplate, TemplatePlace } from "./files/place.ts";

export interface TemplateSummary {
  id: string;
  name: string;
  description: string;
  icon: string | null;
  author: string;
  version: string;
  tags: string[];
  isSystem: boolean;
  /** `isInternal` templates are meant to be extended rather than chosen. Their ids begin with `_`. */
  isInternal: boolean;
  extends: string | null;
  place: TemplatePlace["name"];
  /** True if a run can start with it. If there are `errors` too, an earlier version is in use. */
  valid: boolean;
  errors: string[];
}

export function summarise({ id, place, raw, resolution, errors }: PlacedTemplate): TemplateSummary {
  // Without a `resolution`, the template is summarised from the content of its file.
  const source = resolution?.template ?? raw ?? {};
  const text = (name: string, otherwise: string): string => textOf(source, name) ?? otherwise;
  const tags: unknown = Reflect.get(source, "tags");
  return {
    id,
    name: text("name", id),
    description: text("description", ""),
    icon: textOf(source, "icon") ?? null,
    author: text("author", ""),
    version: text("version", ""),
    tags: Array.isArray(tags) ? tags.map(String) : [],
    isSystem: place.name === "system",
    isInternal: id.startsWith("_"),
    extends: textOf(source, "extends") ?? null,
    place: place.name,
    valid: resolution !== null,
    errors: [...errors],
  };
}

function textOf(source: object, name: string): string | undefined {
  const value: unknown = Reflect.get(source, name);
  return typeof value === "string" ? value : undefined;
}
