// `planTasks` makes one task per component and an overview that depends on all of them. `findWork` maps a task back to
// its component, also if the user has changed the plan.
import type { CodeAnalysis } from "./analyse.ts";
import { type Component, isBelow } from "./components.ts";
import { compareText } from "../read/facts.ts";
import { oneLine, plural } from "../write/markdown.ts";
import { RESERVED_SLUGS, toSlug } from "./name-components.ts";

interface PlannedTask {
  id: string;
  title: string;
  description: string;
  scope: string[];
  priority: number;
  dependencies: string[];
}

type TaskWork =
  | { kind: "component"; component: Component }
  | { kind: "overview" }
  | { kind: "unknown"; reason: string };

const OVERVIEW_TITLE = "Write the overview";

export function planTasks(analysis: CodeAnalysis): PlannedTask[] {
  const { components, docsFolder } = analysis;
  const tasks: PlannedTask[] = components.map((component, index) => ({
    id: taskId(index),
    title: titleOf(component),
    description:
      `Write ${docsFolder}/${component.slug}.md: what ${oneLine(component.name)} is for, its ${plural(component.files.length, "file")}, ` +
      "every exported name with its signature, comment and place, examples of use found in the code, and how it relates to the other components.",
    // The page belongs to the scope, because the task changes it.
    scope: [...component.scope, `${docsFolder}/${component.slug}.md`],
    priority: 1,
    dependencies: [],
  }));
  const withoutCode = "The repository holds no source code to document; the page says so and lists the other files.";
  tasks.push({
    id: taskId(components.length),
    title: OVERVIEW_TITLE,
    description:
      `Write ${docsFolder}/README.md: what the project is, how to start, the map of its components, entry points and dependencies${components.length > 1 ? `; and ${docsFolder}/architecture.md: a diagram of the components and their dependencies` : ""}. ${components.length === 0 ? withoutCode : "Needs the pages of all components."}`.trim(),
    scope: [`${docsFolder}/README.md`, ...(components.length > 1 ? [`${docsFolder}/architecture.md`] : [])],
    priority: components.length === 0 ? 1 : 3,
    dependencies: tasks.map((task) => task.id),
  });
  return tasks;
}

function taskId(index: number): string {
  return `task_${String(index + 1).padStart(3, "0")}`;
}

function titleOf(component: Component): string {
  return `Document ${oneLine(component.name)}`.slice(0, 120);
}

export function findWork(
  analysis: CodeAnalysis,
  title: string,
  description: string,
  scope: string[],
  taskId: string,
): TaskWork {
  const files = filesInScope(analysis, scope);
  const sameTitle = analysis.components.find((component) => titleOf(component) === title.trim());
  if (sameTitle) {
    const inScope = new Set(files);
    const narrowed = sameTitle.files.filter((path) => inScope.has(path));
    return {
      kind: "component",
      component:
        narrowed.length > 0 ? { ...sameTitle, files: narrowed, lines: sumLines(analysis, narrowed) } : sameTitle,
    };
  }
  if (title.trim() === OVERVIEW_TITLE) return { kind: "overview" };
  const sameFiles = analysis.components.find((component) => component.files.join("\n") === files.join("\n"));
  if (sameFiles && files.length > 0) return { kind: "component", component: sameFiles };
  if (files.length > 0) return { kind: "component", component: makeComponent(analysis, title || taskId, files) };
  if (/\b(?:overview|index|introduction|readme|architecture|guide)\b/i.test(`${title} ${description}`))
    return { kind: "overview" };
  const problem =
    scope.length > 0
      ? `nothing in the scope ${scope.join(", ")} is source code of this repository`
      : "the task has no scope";
  return {
    kind: "unknown",
    reason: `The local agent does not know which files to document: ${problem}. Correct the scope of the task.`,
  };
}

function filesInScope(analysis: CodeAnalysis, scope: string[]): string[] {
  const entries = scope.map((entry) =>
    entry
      .trim()
      .replace(/^\.\//, "")
      .replace(/(?<=\.\w+):[\w-]+$/, "")
      .replace(/\/(?:\*\*?(?:\/\*)?)?$/, ""),
  );
  const code = [...analysis.modules.keys()];
  return code
    .filter((path) =>
      entries.some((entry) => entry === path || (entry !== "" && isBelow(path, entry)) || entry === "."),
    )
    .toSorted(compareText);
}

/**
 * Makes a component for a task that the user added. If the slug `isTaken`, it gets another, so that no page is
 * replaced.
 */
function makeComponent(analysis: CodeAnalysis, title: string, files: string[]): Component {
  const name =
    oneLine(title.replace(/^(?:document|describe|write (?:the )?documentation (?:for|of))\s+(?:the\s+)?/i, "")) ||
    title;
  const slug = toSlug(name);
  const isTaken = RESERVED_SLUGS.includes(slug) || analysis.components.some((component) => component.slug === slug);
  return {
    name,
    slug: isTaken ? `${slug}-task` : slug,
    folder: "",
    files,
    scope: files,
    purpose: "",
    lines: sumLines(analysis, files),
  };
}

function sumLines(analysis: CodeAnalysis, files: string[]): number {
  return files.reduce((sum, path) => sum + (analysis.modules.get(path)?.lines ?? 0), 0);
}
