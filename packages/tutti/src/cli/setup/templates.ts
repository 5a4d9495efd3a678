import { resolve } from "node:path";
import { parseTemplate } from "../../template/files/read-file.ts";
import type { Output } from "../terminal/output.ts";
import { cutAtWord } from "../terminal/text-width.ts";
import { writeNew } from "../terminal/write-new.ts";
import { enclosingProject } from "../input/enclosing-project.ts";
import { readPairs } from "../input/pairs.ts";
import { readFile } from "../input/read-file.ts";
import { openTemplateSource } from "./template-source.ts";
import { TuttiError } from "../../schema/error.ts";

interface TemplateFlags {
  cwd?: string;
}

interface ShowFlags extends TemplateFlags {
  raw?: boolean;
  provenance?: boolean;
}

const projectOf = ({ cwd }: TemplateFlags): string | undefined => (cwd === undefined ? undefined : resolve(cwd));

/** Commands that only read default to the project of the current folder, like `tutti run`. A server has other folders. */
function readProjectOf({ url }: Output, flags: TemplateFlags): string | undefined {
  return projectOf(flags) ?? (url === undefined ? enclosingProject(process.cwd()) : undefined);
}

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

export async function list(output: Output, flags: TemplateFlags & { all?: boolean }): Promise<number> {
  const all = await (await openTemplateSource(output)).list(readProjectOf(output, flags));
  const rows = flags.all ? all : all.filter(({ isInternal }) => !isInternal);
  output.value(rows);
  const width = Math.max(...rows.map(({ id }) => id.length));
  for (const { id, place, name, description, errors, valid } of rows) {
    const about = description === "" ? name : `${name}: ${description}`;
    output.result(cutAtWord(`${id.padEnd(width)}  ${place.padEnd(7)}  ${about}`, output.columns));
    const effect = valid ? "an earlier version is in use" : "cannot be used";
    for (const error of errors) output.warn(`${id}: ${effect}: ${error}`);
  }
  return 0;
}

export async function show(output: Output, id: string, flags: ShowFlags): Promise<number> {
  if (flags.raw && flags.provenance)
    throw new TuttiError("usage", "--raw and --provenance exclude each other. Give only one of them.");
  const templates = await openTemplateSource(output);
  const project = readProjectOf(output, flags);
  if (flags.raw) return print(output, await templates.raw(id, project));
  const { template, provenance, chain, warnings } = await templates.resolve(id, project);
  for (const warning of warnings) output.warn(warning);
  if (!flags.provenance) return print(output, template);
  output.value({ template, provenance, chain, warnings });
  output.result(chain.join(" extends "));
  for (const [path, origin] of Object.entries(provenance)) output.result(`${path}  ${origin}`);
  return 0;
}

function print(output: Output, value: unknown): number {
  output.value(value);
  output.document(pretty(value));
  return 0;
}

export async function validate(output: Output, file: string, flags: TemplateFlags): Promise<number> {
  const validation = await check(output, await readFile(file), readProjectOf(output, flags));
  output.value(validation);
  for (const warning of validation.warnings) output.warn(warning);
  for (const error of validation.errors) output.result(error);
  if (validation.valid) output.result(`${file} is a valid template`);
  return validation.valid ? 0 : 1;
}

/** A file that `parseTemplate` rejects is a template with a problem, like any other. */
async function check(output: Output, text: string, project: string | undefined) {
  let template: unknown;
  try {
    template = parseTemplate(text);
  } catch (error) {
    if (!(error instanceof TuttiError)) throw error;
    return { valid: false, errors: [error.message], warnings: [] };
  }
  return (await openTemplateSource(output)).validate(template, project);
}

export async function create(output: Output, file: string, flags: TemplateFlags): Promise<number> {
  const text = await readFile(file);
  const template = await (await openTemplateSource(output)).importText(text, projectOf(flags));
  output.value(template);
  output.result(`${template.id} is stored`);
  return 0;
}

export async function duplicate(output: Output, id: string, name: string, flags: TemplateFlags): Promise<number> {
  const template = await (await openTemplateSource(output)).duplicate(id, name, projectOf(flags));
  output.value(template);
  output.result(`${template.id} is stored; it extends ${id}`);
  return 0;
}

export async function remove(output: Output, id: string, flags: TemplateFlags): Promise<number> {
  await (await openTemplateSource(output)).remove(id, projectOf(flags));
  output.value({ success: true });
  output.result(`${id} is deleted`);
  return 0;
}

export async function exportTo(
  output: Output,
  id: string,
  file: string | undefined,
  flags: TemplateFlags,
): Promise<number> {
  const raw = await (await openTemplateSource(output)).raw(id, readProjectOf(output, flags));
  if (file === undefined) return print(output, raw);
  writeNew(file, `${pretty(raw)}\n`, 0o666);
  output.value({ id, file: resolve(file) });
  output.result(`${id} is written to ${file}`);
  return 0;
}

export async function preview(output: Output, id: string, flags: TemplateFlags & { var: string[] }): Promise<number> {
  const variables = readPairs("--var", flags.var);
  const prompts = await (await openTemplateSource(output)).preview(id, variables, readProjectOf(output, flags));
  output.value(prompts);
  for (const [name, { system, user, unknown }] of Object.entries(prompts)) {
    output.result(`--- ${name}`);
    output.document(user === null ? system : `${system}\n\n${user}`);
    if (unknown.length > 0) output.warn(`${name}: there is no value for ${unknown.join(", ")}`);
  }
  return 0;
}
