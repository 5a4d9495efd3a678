// Where the pages go. A page that a person wrote is never overwritten: when one stands in the way, all pages go to
// another folder. The choice depends only on what the repository holds apart from the agent's own pages, so that every
// worker makes the same one.
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Component } from "./components.ts";
import { type RepositoryFiles, readText } from "../read/read-repository.ts";
import { isGeneratedPage } from "../read/marker.ts";

const CANDIDATES = ["docs", "docs/reference", "docs/code", "documentation", "code-reference"];

export function chooseDocsFolder(repository: RepositoryFiles, components: Pick<Component, "slug">[]): string {
  const pages = ["README.md", ...components.map((component) => `${component.slug}.md`)];
  for (const folder of CANDIDATES) if (isFree(repository, folder, pages)) return folder;
  for (let count = 2; count < 1_000; count += 1) {
    const folder = `code-reference-${count}`;
    if (isFree(repository, folder, pages)) return folder;
  }
  throw new Error("There is no folder left where the pages could go without overwriting something.");
}

function isFree(repository: RepositoryFiles, folder: string, pages: string[]): boolean {
  const parts = folder.split("/");
  for (let length = 1; length <= parts.length; length += 1) {
    const path = parts.slice(0, length).join("/");
    // What git ignores would never reach the person.
    if (repository.ignores(path, true)) return false;
    const facts = lstatSync(join(repository.root, path), { throwIfNoEntry: false });
    if (facts && !facts.isDirectory()) return false;
  }
  // Some file systems do not tell upper from lower case, and a page called readme.md is an index all the same.
  const taken = new Set(
    repository.files.filter(({ path }) => path.startsWith(`${folder}/`)).map(({ path }) => path.toLowerCase()),
  );
  return pages.every((page) => {
    const path = `${folder}/${page}`;
    if (taken.has(path.toLowerCase()) || repository.ignores(path, false)) return false;
    const facts = lstatSync(join(repository.root, path), { throwIfNoEntry: false });
    return !facts || (facts.isFile() && isGeneratedPage(readText(repository.root, path)));
  });
}
