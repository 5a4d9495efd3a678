// Whether a value fits a JSON Schema, for the keywords that our schemas use. It refuses to guess at any other keyword,
// so a new one cannot slip through unchecked. It is no replacement for a check with a full validator.

type Schema = Record<string, unknown>;

const ABOUT_THE_SCHEMA = new Set(["$schema", "$id", "title", "description", "format", "default"]);

export function fits(schema: Schema, value: unknown): boolean {
  return Object.entries(schema).every(([keyword, rule]) => {
    if (ABOUT_THE_SCHEMA.has(keyword)) return true;
    const check = KEYWORDS[keyword];
    if (!check) throw new Error(`No check for the keyword ${keyword}`);
    return check(rule, value, schema);
  });
}

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const KEYWORDS: Record<string, (rule: unknown, value: unknown, schema: Schema) => boolean> = {
  type: (rule, value) => [rule].flat().includes(typeOf(value)),
  const: (rule, value) => rule === value,
  enum: (rule, value) => (rule as unknown[]).includes(value),
  anyOf: (rule, value) => (rule as Schema[]).some((each) => fits(each, value)),
  minLength: (rule, value) => typeof value !== "string" || Array.from(value).length >= Number(rule),
  pattern: (rule, value) => typeof value !== "string" || new RegExp(String(rule), "u").test(value),
  minimum: (rule, value) => typeof value !== "number" || value >= Number(rule),
  maximum: (rule, value) => typeof value !== "number" || value <= Number(rule),
  minItems: (rule, value) => !Array.isArray(value) || value.length >= Number(rule),
  items: (rule, value) => !Array.isArray(value) || value.every((each) => fits(rule as Schema, each)),
  required: (rule, value) => !isObject(value) || (rule as string[]).every((name) => Object.hasOwn(value, name)),
  properties: (rule, value) =>
    !isObject(value) ||
    Object.entries(rule as Record<string, Schema>).every(
      ([name, each]) => !Object.hasOwn(value, name) || fits(each, value[name]),
    ),
  propertyNames: (rule, value) => !isObject(value) || Object.keys(value).every((name) => fits(rule as Schema, name)),
  additionalProperties: (rule, value, { properties = {} }) =>
    !isObject(value) ||
    Object.entries(value)
      .filter(([name]) => !Object.hasOwn(properties as object, name))
      .every(([, each]) => fits(rule as Schema, each)),
};

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
