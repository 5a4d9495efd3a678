import { isRecord } from "../../protocol/json/json-value.ts";
import { TuttiError } from "../../schema/error.ts";

/** `name` appears in errors, for example `answer`. */
export function readObject(name: string, text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const message = `The ${name} is not valid JSON (${(error as Error).message}). Give one JSON object.`;
    throw new TuttiError("invalid_input", message, { cause: error });
  }
  if (isRecord(value)) return value;
  throw new TuttiError("invalid_input", `The ${name} is not a JSON object. Give one JSON object.`);
}
