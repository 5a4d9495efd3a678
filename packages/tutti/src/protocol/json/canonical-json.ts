import { isRecord } from "./json-value.ts";

/** `canonicalJson` is the same for equal values, regardless of the order of their members. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (!isRecord(member)) return member;
    return Object.fromEntries(
      Object.keys(member)
        .toSorted()
        .map((name) => [name, member[name]]),
    );
  });
}
