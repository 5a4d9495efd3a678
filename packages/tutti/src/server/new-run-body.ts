// What a request for a new run may say.
import { isAbsolute } from "node:path";
import { z } from "zod";
import type { NewRun } from "../engine/new-run.ts";
import { Budget } from "../schema/budget.ts";
import { TuttiError } from "../schema/error.ts";
import { TemplateConfig } from "../schema/template.ts";

/** A setting within its bounds but without its default, which would override the template's own. */
function withoutDefault(setting: z.ZodType): z.ZodType {
  return setting instanceof z.ZodDefault || setting instanceof z.ZodPrefault || setting instanceof z.ZodOptional
    ? withoutDefault(setting.unwrap() as z.ZodType)
    : setting;
}

const Settings = z.strictObject(
  Object.fromEntries(
    Object.entries(TemplateConfig.shape).map(([name, setting]) => [name, withoutDefault(setting).optional()]),
  ),
) as unknown as z.ZodType<Partial<TemplateConfig>>;

export const NewRunBody = z.strictObject({
  templateId: z.string().min(1),
  cwd: z.string().refine(isAbsolute, "an absolute path"),
  message: z.string().refine((text) => text.trim() !== "", "a request in words"),
  agent: z.string().min(1).optional(),
  customVariables: z.record(z.string(), z.unknown()).default({}),
  autoStart: z.boolean().default(false),
  config: Settings.default({}),
  budget: Budget.default({}),
  /** The hash of what the person agreed to let a project's template run. */
  trust: z.string().min(1).optional(),
});

/** Beyond loopback a request chooses among what is configured on this machine; it brings no programs of its own. */
export function mustNameNoPrograms({ agent, config, trust }: Pick<NewRun, "agent" | "config" | "trust">): void {
  if ([agent, config?.agent].some((name) => name?.includes(":"))) {
    throw new TuttiError("forbidden", "beyond loopback a request may only name configured agents");
  }
  if (trust !== undefined) {
    throw new TuttiError("forbidden", "what a project's template would run can only be agreed to on this machine");
  }
}
