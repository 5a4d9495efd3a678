// From a template's name to the template, with everything it inherits filled in.
import { z } from "zod";
import base from "./built-in/_default.json" with { type: "json" };
import documentation from "./built-in/documentation.json" with { type: "json" };
import { TuttiError } from "../schema/error.ts";
import { Template } from "../schema/template.ts";

type Raw = Record<string, unknown>;

const BUILT_IN: ReadonlyMap<string, Raw> = new Map([base, documentation].map((raw) => [raw.id, raw as Raw]));

export function loadTemplate(id: string): Template {
  const parsed = Template.safeParse(inherit(id, []));
  if (parsed.success) return parsed.data;
  throw new TuttiError("invalid_template", `template ${id} is not as expected: ${z.prettifyError(parsed.error)}`);
}

/** The template over its parents: objects are merged, the child wins, arrays are replaced. */
function inherit(id: string, chain: readonly string[]): Raw {
  const raw = BUILT_IN.get(id);
  if (!raw) {
    const known = [...BUILT_IN.keys()].join(", ");
    throw new TuttiError("template_not_found", `there is no template ${JSON.stringify(id)}; known are ${known}`);
  }
  const path = [...chain, id];
  if (chain.includes(id))
    throw new TuttiError("invalid_template", `Circular inheritance detected: ${path.join(" -> ")}`);
  return typeof raw["extends"] === "string" ? merge(inherit(raw["extends"], path), raw) : raw;
}

function merge(parent: Raw, child: Raw): Raw {
  const merged: Raw = { ...parent };
  for (const [key, value] of Object.entries(child)) {
    const inherited = parent[key];
    merged[key] = isObject(inherited) && isObject(value) ? merge(inherited, value) : value;
  }
  return merged;
}

const isObject = (value: unknown): value is Raw => typeof value === "object" && value !== null && !Array.isArray(value);
