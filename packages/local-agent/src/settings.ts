// `readSettings` reads the documented variables of the template `documentation` from a prompt.
import { joinPath } from "./read/paths.ts";
import { textVariable } from "./prompt.ts";

export interface DocumentationSettings {
  /** The folder that the user wants for the pages, or "" to let `chooseDocsFolder` decide. */
  docsFolder: string;
  includesExamples: boolean;
  /** The readers for whom the pages are written, or "". */
  audience: string;
  projectName: string;
  /** The git object that `shareFacts` of the analysis wrote, or "". */
  factsId: string;
  /** Settings that the agent cannot follow. */
  warnings: string[];
}

/** Later prompts contain the notes of the analysis, and `FACTS_NOTE` finds this sentence in them. */
export const factsNote = (id: string): string => `The facts about the code are in the git object ${id}.`;
const FACTS_NOTE = new RegExp(factsNote("([0-9a-f]{40,64})"));

/** Throws if the agent cannot follow `LANGUAGE` or `DOCS_FOLDER`. */
export function readSettings(variables: Record<string, unknown>): DocumentationSettings {
  const language = textVariable(variables, "LANGUAGE").trim();
  if (language !== "" && !/^en(?:glish|$|[-_])/i.test(language))
    throw new Error(
      `The local agent writes English only, and LANGUAGE is ${JSON.stringify(language)}. Choose another agent, or set LANGUAGE to English.`,
    );
  const instructions = textVariable(variables, "CUSTOM_INSTRUCTIONS").trim();
  return {
    docsFolder: readFolder(textVariable(variables, "DOCS_FOLDER").trim()),
    includesExamples: !/^(?:false|no|0|off)$/i.test(textVariable(variables, "INCLUDE_EXAMPLES").trim()),
    audience: textVariable(variables, "AUDIENCE").trim(),
    projectName: textVariable(variables, "PROJECT_NAME").trim(),
    factsId: FACTS_NOTE.exec(textVariable(variables, "ANALYSIS_JSON"))?.[1] ?? "",
    warnings:
      instructions === "" ? [] : ["The local agent cannot follow CUSTOM_INSTRUCTIONS, because it has no model."],
  };
}

function readFolder(value: string): string {
  // `docs` is the default; the agent may choose another folder if that one has pages of the user.
  if (value === "" || value === "docs") return "";
  const folder = joinPath("", value);
  const isInside = !/^(?:[/\\]|[A-Za-z]:)/.test(value) && folder !== "" && !folder.includes("\0");
  if (!isInside || folder.split("/").some((part) => part.startsWith(".")))
    throw new Error(
      `DOCS_FOLDER is ${JSON.stringify(value)}, which is no folder for pages. Name a folder inside the repository.`,
    );
  return folder;
}
