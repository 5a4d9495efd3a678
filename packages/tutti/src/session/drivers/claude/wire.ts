// Reads lines of Claude Code. Every release adds messages and members, so reading never fails: a value of an unexpected
// type counts as missing.

export type Message = Readonly<Record<string, unknown>>;

export const asObject = (value: unknown): Message =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Message) : {};

export const asList = (value: unknown): Message[] => (Array.isArray(value) ? value.map(asObject) : []);

export const asText = (value: unknown): string => (typeof value === "string" ? value : "");

export const asTexts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];

export const asNumber = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value : null;

/** Null for a line that is not a message. */
export function readMessage(line: string): Message | null {
  try {
    const message = asObject(JSON.parse(line));
    return typeof message["type"] === "string" ? message : null;
  } catch {
    return null;
  }
}
