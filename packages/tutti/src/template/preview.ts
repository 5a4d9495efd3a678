import { PROMPT_NAMES, type PromptName } from "./check/check-raw.ts";
import { findPlaceholders, substituteVariables } from "./render.ts";
import { BUILT_IN_VARIABLES, builtInVariable, promptVariables } from "./variables.ts";
import type { Template } from "../schema/template.ts";

interface PromptPreview {
  system: string;
  user: string | null;
  /** `unknown` placeholders have no value and stay unchanged. */
  unknown: string[];
}
export type TemplatePreview = Partial<Record<PromptName, PromptPreview>>;

/** `given` overrides the sample values, including built-in variables. */
export function previewTemplate(template: Template, given: Readonly<Record<string, unknown>>): TemplatePreview {
  const preview: TemplatePreview = {};
  for (const name of PROMPT_NAMES) {
    const prompt = template.prompts[name];
    if (!prompt) continue;
    const variables = promptVariables(template.variables, {}, { ...samples(template, name), ...given });
    const { system, user = null } = prompt;
    preview[name] = {
      system: substituteVariables(system, variables),
      user: user === null ? null : substituteVariables(user, variables),
      unknown: findPlaceholders(`${system}\n${user ?? ""}`).filter((one) => !Object.hasOwn(variables, one)),
    };
  }
  return preview;
}

function samples(template: Template, name: PromptName): Record<string, string> {
  const { delimiterStart, delimiterEnd } = template.prompts.responseFormat;
  const known = Object.entries(BUILT_IN_VARIABLES).filter(([variable]) => {
    const { ofWorker, open } = builtInVariable(variable)!;
    return !open && (name === "worker" || !ofWorker);
  });
  return {
    ...Object.fromEntries(known.map(([variable, { sample }]) => [variable, sample])),
    TEMPLATE_NAME: template.name,
    DELIMITER_START: delimiterStart,
    DELIMITER_END: delimiterEnd,
  };
}
