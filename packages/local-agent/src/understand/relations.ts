import type { CodeAnalysis } from "./analyse.ts";
import type { Component } from "./components.ts";
import { compareText } from "../read/facts.ts";

interface Relation {
  other: Component;
  names: string[];
}

export function dependenciesOf(
  analysis: CodeAnalysis,
  component: Component,
): { components: Relation[]; packages: string[] } {
  const namesByComponent = new Map<Component, Set<string>>();
  const packages = new Set<string>();
  for (const path of component.files) {
    for (const name of analysis.graph.packages.get(path) ?? []) packages.add(name);
    for (const [target, names] of analysis.graph.links.get(path) ?? [])
      addNames(namesByComponent, analysis.owners.get(target), component, names);
  }
  return { components: toRelations(namesByComponent), packages: [...packages].toSorted(compareText) };
}

export function usersOf(analysis: CodeAnalysis, component: Component): Relation[] {
  const namesByComponent = new Map<Component, Set<string>>();
  for (const path of component.files) {
    for (const user of analysis.graph.importers.get(path) ?? []) {
      addNames(
        namesByComponent,
        analysis.owners.get(user),
        component,
        analysis.graph.links.get(user)?.get(path) ?? new Set(),
      );
    }
  }
  return toRelations(namesByComponent);
}

function addNames(
  namesByComponent: Map<Component, Set<string>>,
  other: Component | undefined,
  self: Component,
  names: Set<string>,
): void {
  // A component that a task narrowed has the page of the original component, so compare pages and not objects.
  if (!other || other.slug === self.slug) return;
  const known = namesByComponent.get(other) ?? new Set<string>();
  for (const name of names) known.add(name);
  namesByComponent.set(other, known);
}

function toRelations(namesByComponent: Map<Component, Set<string>>): Relation[] {
  return [...namesByComponent]
    .map(([other, names]) => ({ other, names: [...names].toSorted(compareText) }))
    .toSorted((a, b) => compareText(a.other.slug, b.other.slug));
}
