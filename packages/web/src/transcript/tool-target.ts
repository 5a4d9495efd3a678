// What a tool was used on, in one line: the member that names it in most agents' tools, else all of the input.

const TELLING = ["file_path", "path", "file", "command", "cmd", "pattern", "query", "url", "description", "prompt"];

export function toolTarget(input: unknown): string {
  if (typeof input === "string") return input;
  if (typeof input !== "object" || input === null) return "";
  const members = input as Record<string, unknown>;
  const name = TELLING.find((member) => typeof members[member] === "string");
  if (name) return members[name] as string;
  return Object.keys(members).length === 0 ? "" : JSON.stringify(input);
}
