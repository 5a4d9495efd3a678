// `checkNames` and `checkExamples` compare the sections of names with the lines of the files, not with the analysis.
import { type CheckContext, containsWord, reportFault, resolveLink } from "./doc-check.ts";
import type { ParsedPage } from "./parse-page.ts";

/** The section of a name links to the line on which a file of this repository declares it. */
export function checkNames({ analysis, check, read }: CheckContext, path: string, page: ParsedPage): void {
  for (const { name, line, place } of page.names) {
    check.names += 1;
    const location = `${path}:${line}`;
    const target = place === null ? null : resolveLink(path, place);
    const text = target === null ? null : read(target.path);
    if (target === null || text === null) {
      reportFault(check, `The section of ${name} does not say where it is defined.`, location);
      continue;
    }
    const exported = analysis.modules.get(target.path)?.exports.find((entry) => entry.name === name);
    const linked = Number(target.anchor.slice(1));
    const declaration = text.split("\n")[linked - 1] ?? "";
    if (!text.includes(lastPart(name))) reportFault(check, `${name} does not exist in ${target.path}.`, location);
    else if (!exported) reportFault(check, `${target.path} does not export ${name}.`, location);
    else if (exported.line !== linked)
      reportFault(check, `${name} is declared on line ${exported.line} of ${target.path}.`, location);
    else if (!declares(declaration, name, exported.isDefault) && !declaresAlias(declaration, text, lastPart(name)))
      reportFault(check, `Line ${linked} of ${target.path} does not declare ${name}.`, location);
  }
}

const lastPart = (name: string): string =>
  name
    .replace(/^module\.exports$/, "exports")
    .split(/::|\./)
    .at(-1)!;

/** A default export may have no name of its own. */
function declares(line: string, name: string, isDefault: boolean): boolean {
  return containsWord(line, lastPart(name)) || (isDefault && /\b(?:default|exports)\b/.test(line));
}

/** A name may be exported under another name, as in `{ local as name }`, `name: local` or `exports.name = local`. */
function declaresAlias(line: string, text: string, name: string): boolean {
  const word = name.replaceAll("$", "\\$");
  const aliases = text.matchAll(
    new RegExp(`(?<![\\w$])(?:${word}\\s*[:=]\\s*([\\w$]+)|([\\w$]+)\\s+as\\s+${word})(?![\\w$])`, "g"),
  );
  return [...aliases].some(([, value, local]) => containsWord(line, (value ?? local)!));
}

/** An example consists of lines of the file that it names, from the line that it names. */
export function checkExamples({ check, read }: CheckContext, path: string, page: ParsedPage): void {
  for (const { line, target, code } of page.examples) {
    check.examples += 1;
    const resolved = resolveLink(path, target);
    const first = Number(resolved?.anchor.slice(1));
    const lines = (resolved === null ? null : read(resolved.path))?.split("\n").slice(first - 1) ?? [];
    const isQuoted = code.every((quoted, index) => plain(lines[index] ?? "").includes(plain(quoted)));
    if (code.length === 0 || !isQuoted)
      reportFault(check, `The example is not at line ${first} of ${resolved?.path ?? target}.`, `${path}:${line}`);
  }
}

/** A page has no control characters, and quotes code without its indentation. */
const plain = (line: string): string => line.replaceAll(/[^\P{Cc}\t]/gu, "").trim();
