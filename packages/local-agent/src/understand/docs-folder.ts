// If a page would overwrite a file of the user, `chooseDocsFolder` takes another folder for all pages. It ignores the
// pages of the agent, so that every worker makes the same choice.
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Component } from "./components.ts";
import { type RepositoryFiles, readText } from "../read/read-repository.ts";
import { isGeneratedPage } from "../read/marker.ts";

const CANDIDATES = ["docs", "docs/reference", "docs/code", "documentation", "code-reference"];

export function chooseDocsFolder(
  repository: RepositoryFiles,
  components: Pick<Component, "slug">[],
  wanted: string,
): string {
  const pages = ["README.md", "architecture.md", ...components.map((component) => `${component.slug}.md`)];
  if (wanted !== "") {
    if (isFree(repository, wanted, pages)) return wanted;
    throw new Error(
      `DOCS_FOLDER is ${JSON.stringify(wanted)}, and that folder has pages of the user with the same names, or git ignores it. Choose another folder.`,
    );
  }
  for (const folder of CANDIDATES) if (isFree(repository, folder, pages)) return folder;
  for (let count = 2; count < 1_000; count += 1) {
    const folder = `code-reference-${count}`;
    if (isFree(repository, folder, pages)) return folder;
  }
  throw new Error("Every folder from docs to code-reference-999 contains other files. Remove one of these folders.");
}

function isFree(repository: RepositoryFiles, folder: string, pages: string[]): boolean {
  const parts = folder.split("/");
  for (let length = 1; length <= parts.length; length += 1) {
    const path = parts.slice(0, length).join("/");
    // Git would not commit pages in an ignored folder.
    if (repository.isIgnored(path, true)) return false;
    const stats = lstatSync(join(repository.root, path), { throwIfNoEntry: false });
    if (stats && !stats.isDirectory()) return false;
  }
  // Compares in lower case: some file systems ignore case, and `readme.md` is an index too.
  const existingPaths = new Set(
    repository.files.filter(({ path }) => path.startsWith(`${folder}/`)).map(({ path }) => path.toLowerCase()),
  );
  return pages.every((page) => {
    const path = `${folder}/${page}`;
    if (existingPaths.has(path.toLowerCase()) || repository.isIgnored(path, false)) return false;
    const stats = lstatSync(join(repository.root, path), { throwIfNoEntry: false });
    return !stats || (stats.isFile() && isGeneratedPage(readText(repository.root, path)));
  });
}
