import { endOfString } from "./json-escape.ts";

/** Whether an object in `json`, which is valid JSON, has two members of the same name. `JSON.parse` keeps the last one. */
export function hasRepeatedMember(json: string): boolean {
  /** The names of each open object; null for a list. */
  const open: (Set<string> | null)[] = [];
  for (let at = 0; at < json.length; at++) {
    const char = json[at];
    if (char === "{") open.push(new Set());
    else if (char === "[") open.push(null);
    else if (char === "}" || char === "]") open.pop();
    else if (char === '"') {
      const end = endOfString(json, at);
      const names = open.at(-1);
      if (names && /^\s*:/.test(json.slice(end, end + 1000))) {
        const name = JSON.parse(json.slice(at, end)) as string;
        if (names.has(name)) return true;
        names.add(name);
      }
      at = end - 1;
    }
  }
  return false;
}
