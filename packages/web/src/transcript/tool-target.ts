/** Members that name the target in the tools of most agents, in order of preference. */
const TARGET_MEMBERS = [
  "file_path",
  "path",
  "file",
  "command",
  "cmd",
  "pattern",
  "query",
  "url",
  "description",
  "prompt",
];

export function toolTarget(input: unknown): string {
  if (typeof input === "string") return input;
  if (typeof input !== "object" || input === null) return "";
  const members = input as Record<string, unknown>;
  const name = TARGET_MEMBERS.find((member) => typeof members[member] === "string");
  if (name) return members[name] as string;
  return Object.keys(members).length === 0 ? "" : JSON.stringify(input);
}
