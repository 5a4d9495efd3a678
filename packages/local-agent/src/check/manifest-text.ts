// Finds dependencies and commands in the text of manifests. The readers of manifests are not used, so that a mistake of
// a reader becomes visible.
import { baseName } from "../read/classify.ts";

const escape = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
const has = (text: string, pattern: string, flags = "m"): boolean => new RegExp(pattern, flags).test(text);

/** Whether the manifest declares the dependency; `version` is "" if the page shows none. */
export function declaresDependency(path: string, text: string, name: string, version: string): boolean {
  const file = baseName(path);
  const quoted = escape(name);
  if (version !== "" && !text.includes(version.replaceAll('"', '\\"')) && !text.includes(version)) return false;
  if (/^(?:package|composer)\.json$/.test(file)) {
    const block = `"(?:\\w*[dD]ependencies|require(?:-dev)?)"\\s*:\\s*\\{[^{}]*"${quoted}"\\s*:`;
    return has(text, block);
  }
  if (file === "Cargo.toml") return declaresCrate(text, name);
  if (file === "pyproject.toml") return has(text, `["']${quoted}(?![\\w-])|^["']?${quoted}["']?\\s*=`);
  if (file === "go.mod") return has(text, `^\\s*(?:require\\s+)?"?${quoted}"?\\s+v`);
  if (file === "pom.xml") {
    const [group, artifact] = name.split(":").map(escape);
    return (
      has(text, `<groupId>\\s*${group}\\s*</groupId>`) && has(text, `<artifactId>\\s*${artifact}\\s*</artifactId>`)
    );
  }
  if (file.startsWith("build.gradle")) return has(text, `["']${quoted}[:"'@]`);
  if (file.endsWith(".gemspec")) return has(text, `add_(?:\\w+_)?dependency\\b[^\\n]*["']${quoted}["']`);
  return has(text, `<PackageReference\\b[^>]*["']${quoted}["']`);
}

/** Reads lines and headers of tables; keys of the table of one crate, such as `features`, are no crates. */
function declaresCrate(text: string, name: string): boolean {
  let section = "";
  for (const line of text.split("\n")) {
    const header = /^\s*\[+([^\]]+)\]+/.exec(line)?.[1];
    if (header !== undefined) section = header.replaceAll(/["'\s]/g, "");
    if (/(?:^|\.)(?:\w+-)?dependencies\./.test(section) && section.endsWith(`.${name}`)) return true;
    const key = /^\s*["']?([\w-]+)["']?(?:\.\w+)?\s*=/.exec(line)?.[1];
    if (/(?:^|\.)(?:\w+-)?dependencies$/.test(section) && key === name) return true;
    if (new RegExp(`\\bpackage\\s*=\\s*["']${escape(name)}["']`).test(line)) return true;
  }
  return false;
}

/**
 * Whether the repository has the command. `read` returns the text of a file at the root, or null, and `names` are the
 * files at the root.
 */
export function hasCommand(command: string, names: string[], read: (path: string) => string | null): boolean {
  const [program = "", ...words] = command.replace(/^\.\//, "").split(" ");
  const has = (pattern: RegExp): boolean => names.some((name) => pattern.test(name));
  const target = escape(words.at(-1) ?? "");
  switch (program) {
    case "npm":
    case "pnpm":
    case "yarn":
    case "bun":
      return words[0] === "install"
        ? has(/^package\.json$/)
        : new RegExp(`"${escape(words.filter((word) => word !== "run").join(" "))}"\\s*:\\s*"`).test(
            read("package.json") ?? "",
          );
    case "composer":
      return words[0] === "install" || new RegExp(`"${target}"\\s*:`).test(read("composer.json") ?? "");
    case "make":
      return new RegExp(`^${target}\\s*:`, "m").test(read("Makefile") ?? "");
    case "cargo":
      return has(/^Cargo\.toml$/);
    case "go":
      return has(/^go\.mod$/);
    case "pip":
      return has(words.includes("-r") ? /^requirements\.txt$/ : /^pyproject\.toml$/);
    case "mvn":
    case "mvnw":
      return has(/^pom\.xml$/) && has(program === "mvnw" ? /^mvnw$/ : /^pom/);
    case "gradle":
    case "gradlew":
      return has(/^build\.gradle/) && has(program === "gradlew" ? /^gradlew$/ : /^build/);
    case "bundle":
      return has(words.includes("rake") ? /^Rakefile$/ : /^Gemfile$/);
    case "dotnet":
      return has(/\.(?:\w+proj|slnx?)$/);
    default:
      return new RegExp(`^["']?${escape(command)}["']?\\s*=`, "m").test(read("pyproject.toml") ?? "");
  }
}
