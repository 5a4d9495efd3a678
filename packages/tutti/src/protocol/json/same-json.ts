import { isRecord } from "./json-value.ts";

/** Ignores the order of members, and stops at the first difference. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((element, index) => isSameJson(element, other[index]))
    );
  }
  if (!isRecord(one)) return one === other;
  if (!isRecord(other)) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => Object.hasOwn(other, name) && isSameJson(one[name], other[name]));
}
