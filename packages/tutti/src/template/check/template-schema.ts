// The published JSON Schema of a template file, for editors and for programs that generate templates. It is derived
// from the schema that the library uses. A template that extends another may omit any member, so the required members
// are in a separate part that applies only without `extends`.
import { z } from "zod";
import { Template } from "../../schema/template.ts";
import { isObject } from "../raw-template.ts";

export const TEMPLATE_SCHEMA_FILE = "template.draft-07.json";

type JsonSchema = Record<string, unknown>;

export function templateJsonSchema(): JsonSchema {
  const { $schema, ...whole } = z.toJSONSchema(Template, { target: "draft-7", io: "input" }) as JsonSchema;
  return {
    $schema,
    $id: "urn:tutti:template",
    title: "A template of Tutti",
    ...optional(whole),
    required: ["id", "name"],
    if: { type: "object", properties: { extends: true }, required: ["extends"] },
    else: mandatory(whole),
  };
}

export const templateSchemaText = (): string => `${JSON.stringify(templateJsonSchema(), null, 2)}\n`;

/** Makes every member optional at any depth. Arrays are not merged, so their elements stay unchanged. */
function optional({ required: _required, ...schema }: JsonSchema): JsonSchema {
  return { ...schema, ...mapProperties(schema, optional), ...mapAlternatives(schema, optional) };
}

/** Keeps only the required members. Strict validators expect each of them under `properties` too. */
function mandatory(schema: JsonSchema): JsonSchema {
  const hasConstraint = (part: unknown): boolean => isObject(part) && Object.keys(part).some((key) => key !== "type");
  const required = (schema["required"] ?? []) as string[];
  const { properties = {} } = mapProperties(schema, mandatory);
  const named = Object.entries(properties)
    .filter(([name, part]) => hasConstraint(part) || required.includes(name))
    .map(([name, part]) => [name, hasConstraint(part) ? part : true]);
  const { anyOf = [] } = mapAlternatives(schema, (one) => ({ type: one["type"], ...mandatory(one) }));
  return {
    ...(named.length > 0 ? { type: "object", properties: Object.fromEntries(named) } : {}),
    ...(required.length > 0 ? { required } : {}),
    ...(anyOf.some(hasConstraint) ? { anyOf } : {}),
  };
}

function mapProperties(schema: JsonSchema, map: (part: JsonSchema) => JsonSchema): { properties?: JsonSchema } {
  if (!isObject(schema["properties"])) return {};
  const entries = Object.entries(schema["properties"]) as [string, JsonSchema][];
  return { properties: Object.fromEntries(entries.map(([name, part]) => [name, map(part)])) };
}

function mapAlternatives(schema: JsonSchema, map: (part: JsonSchema) => JsonSchema): { anyOf?: JsonSchema[] } {
  return Array.isArray(schema["anyOf"]) ? { anyOf: (schema["anyOf"] as JsonSchema[]).map(map) } : {};
}
