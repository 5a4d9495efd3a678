// `findWarnings` is about a template that is valid but probably not intended.
import { PROMPT_NAMES, type PromptName } from "./check-raw.ts";
import { findPlaceholders } from "../render.ts";
import { builtInVariable } from "../variables.ts";
import type { Template } from "../../schema/template.ts";

export function findWarnings(template: Template): string[] {
  return [...warnOfPrompts(template), ...warnOfVariables(template), ...warnOfSettings(template)];
}

/** `unknownPlaceholders` are those of a prompt that neither Tutti nor the template defines. */
function unknownPlaceholders(template: Template, name: PromptName): string[] {
  return placeholdersOf(template, name).filter((placeholder) => {
    if (Object.hasOwn(template.variables, placeholder)) return false;
    const builtIn = builtInVariable(placeholder);
    return !builtIn || (builtIn.ofWorker === true && name !== "worker");
  });
}

function placeholdersOf(template: Template, name: PromptName): string[] {
  const prompt = template.prompts[name];
  return prompt ? findPlaceholders(`${prompt.system}\n${prompt.user ?? ""}`) : [];
}

function warnOfPrompts(template: Template): string[] {
  return PROMPT_NAMES.flatMap((name) => {
    const unknown = unknownPlaceholders(template, name).map((placeholder) =>
      builtInVariable(placeholder)
        ? `"prompts.${name}" uses {${placeholder}}, which only the worker prompt defines; it is sent unchanged.`
        : `"prompts.${name}" uses {${placeholder}}, which has no value unless the user sets one; it is sent unchanged.`,
    );
    return showsDelimiter(template, name)
      ? unknown
      : [...unknown, `"prompts.${name}" does not show the delimiters that must enclose the answer.`];
  });
}

function showsDelimiter(template: Template, name: PromptName): boolean {
  const prompt = template.prompts[name];
  if (!prompt) return true;
  const text = `${prompt.system}\n${prompt.user ?? ""}`;
  return text.includes("{DELIMITER_START}") || text.includes(template.prompts.responseFormat.delimiterStart);
}

function warnOfVariables(template: Template): string[] {
  const used = new Set(PROMPT_NAMES.flatMap((name) => placeholdersOf(template, name)));
  return Object.keys(template.variables).flatMap((name) => {
    const builtIn = builtInVariable(name);
    if (builtIn && !builtIn.open) return [`"variables.${name}" has no effect, because Tutti sets {${name}} itself.`];
    return used.has(name) ? [] : [`"variables.${name}" is not used in any prompt.`];
  });
}

function warnOfSettings({ config, phases }: Template): string[] {
  const { validation } = phases.taskPlanning;
  const executionTimeout = phases.workerExecution.timeout;
  const doubts: [boolean, string][] = [
    [
      (config.idleTimeout ?? 0) >= config.workerTimeout,
      '"config.idleTimeout" is not less than "config.workerTimeout" and has no effect.',
    ],
    [
      executionTimeout !== undefined && executionTimeout < config.workerTimeout,
      '"phases.workerExecution.timeout" gives all workers less time than "config.workerTimeout" gives one.',
    ],
    [
      validation.minTasks > validation.maxTasks,
      '"phases.taskPlanning.validation.minTasks" is greater than "maxTasks", so every plan has a warning.',
    ],
    [
      config.autoRetry && (!config.retryOnError || config.maxRetries === 0),
      '"config.autoRetry" has no effect, because "retryOnError" or "maxRetries" allow no retry.',
    ],
    [
      phases.workerExecution.progressInterval >= config.workerTimeout,
      '"phases.workerExecution.progressInterval" is not less than "config.workerTimeout", so no progress is reported.',
    ],
    [
      !phases.workerExecution.enabled && !config.useSubSessions,
      '"phases.workerExecution.enabled" is false, so no task is carried out.',
    ],
  ];
  return doubts.filter(([applies]) => applies).map(([, sentence]) => sentence);
}
