// How components use each other, seen through the imports of their files.
import type { CodeAnalysis } from "./analyse.ts";
import type { Component } from "./components.ts";
import { byText } from "../read/facts.ts";

export interface Relation {
  other: Component;
  /** The names that are used, sorted. */
  names: string[];
}

export function dependenciesOf(
  analysis: CodeAnalysis,
  component: Component,
): { components: Relation[]; packages: string[] } {
  const found = new Map<Component, Set<string>>();
  const packages = new Set<string>();
  for (const path of component.files) {
    for (const name of analysis.graph.packages.get(path) ?? []) packages.add(name);
    for (const [target, names] of analysis.graph.links.get(path) ?? [])
      collect(found, analysis.owners.get(target), component, names);
  }
  return { components: sorted(found), packages: [...packages].toSorted(byText) };
}

export function usersOf(analysis: CodeAnalysis, component: Component): Relation[] {
  const found = new Map<Component, Set<string>>();
  for (const path of component.files) {
    for (const user of analysis.graph.importers.get(path) ?? []) {
      collect(found, analysis.owners.get(user), component, analysis.graph.links.get(user)?.get(path) ?? new Set());
    }
  }
  return sorted(found);
}

function collect(
  found: Map<Component, Set<string>>,
  other: Component | undefined,
  self: Component,
  names: Set<string>,
): void {
  // A component that a person has narrowed still has the page of the one it comes from.
  if (!other || other.slug === self.slug) return;
  const known = found.get(other) ?? new Set<string>();
  for (const name of names) known.add(name);
  found.set(other, known);
}

function sorted(found: Map<Component, Set<string>>): Relation[] {
  return [...found]
    .map(([other, names]) => ({ other, names: [...names].toSorted(byText) }))
    .toSorted((a, b) => byText(a.other.slug, b.other.slug));
}
