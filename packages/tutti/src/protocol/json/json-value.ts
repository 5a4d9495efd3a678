export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns `undefined` if the text is not JSON; no JSON text parses to `undefined`. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Counts the brackets of `text` first, which avoids most walks. */
export function isNestedDeeper(value: unknown, text: string, limit: number): boolean {
  return text.length > 2 * limit && hasMoreBrackets(text, limit) && isDeeper(value, limit);
}

function hasMoreBrackets(text: string, limit: number): boolean {
  let count = 0;
  for (const bracket of ["{", "["]) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1))
      if (++count > limit) return true;
  }
  return false;
}

export function isDeeper(value: unknown, limit: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (limit === 0) return true;
  if (Array.isArray(value)) {
    for (const element of value) if (isDeeper(element, limit - 1)) return true;
  } else if (isRecord(value)) {
    for (const key in value) if (isDeeper(value[key], limit - 1)) return true;
  }
  return false;
}

/**
 * Removes members named `__proto__`. `JSON.parse` creates them as ordinary members, but copying one by assignment would
 * change a prototype. No message needs such a member.
 */
export function withoutProto(value: object, text: string): object {
  // A search for four characters is fastest, and most texts do not contain them.
  const isNamed = text.includes("__pr") && text.includes("__proto__");
  if (isNamed || text.includes("\\u00")) removeProto(value);
  return value;
}

function removeProto(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Object.hasOwn(value, "__proto__")) Reflect.deleteProperty(value, "__proto__");
  for (const member of Object.values(value)) removeProto(member);
}

export function countMembers(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const members: unknown[] = Object.values(value);
  const count = Array.isArray(value) ? 0 : members.length;
  return members.reduce<number>((sum, member) => sum + countMembers(member), count);
}
