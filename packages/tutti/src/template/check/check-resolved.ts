import { explainIssue, flattenIssues } from "./explain-issue.ts";
import { readCheckedAhead } from "./checked-ahead.ts";
import type { RawTemplate } from "../raw-template.ts";
import { Template } from "../../schema/template.ts";

type ResolvedCheck = { template: Template } | { errors: string[] };

/** Unlike `checkRaw`, gets a template after all its ancestors have been merged into it. */
export function checkResolved(raw: RawTemplate): ResolvedCheck {
  const checked = readCheckedAhead(raw);
  if (checked) return { template: checked };
  const parsed = Template.safeParse(raw);
  if (!parsed.success) return { errors: flattenIssues(parsed.error.issues).map((issue) => explainIssue(issue, raw)) };
  const { delimiterStart, delimiterEnd } = parsed.data.prompts.responseFormat;
  if (delimiterStart === delimiterEnd)
    return { errors: ['"prompts.responseFormat" must have two different delimiters; both are the same.'] };
  return { template: parsed.data };
}
