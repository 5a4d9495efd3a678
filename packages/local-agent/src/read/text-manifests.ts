// Reads `go.mod`, and the declarative statements of Gradle builds and gem specifications, which are programs.
import type { ManifestReader } from "./manifest.ts";
import { joinPath } from "./paths.ts";

export const readGoMod: ManifestReader = (manifest, text) => {
  let block = "";
  for (const line of text.split("\n")) {
    const [code = "", comment = ""] = line.split("//", 2).map((part) => part.trim());
    const words = code
      .split(/\s+/)
      .filter(Boolean)
      .map((word) => word.replaceAll(/^"|"$/g, ""));
    if (words[0] === ")") block = "";
    else if (words[1] === "(") block = words[0]!;
    else if (words[0] === "module" && words[1]) manifest.name = words[1];
    else {
      const [name, version] = block === "require" ? words : words[0] === "require" ? words.slice(1) : [];
      if (name && version && comment !== "indirect")
        manifest.dependencies.push({ name, version, isForDevelopment: false });
    }
  }
};

export const readGradle: ManifestReader = (manifest, text, { read }) => {
  const code = withoutComments(text);
  // A build has its name in the settings beside it; the name of a subproject is that of its folder.
  for (const file of ["settings.gradle", "settings.gradle.kts"]) {
    const settings = withoutComments(read(joinPath(manifest.folder, file)) ?? "");
    manifest.name ||= /^\s*rootProject\.name\s*=\s*["']([^"'$]+)["']/m.exec(settings)?.[1] ?? "";
  }
  manifest.description = /^description\s*=\s*["']([^"'$]+)["']/m.exec(code)?.[1] ?? "";
  const declared =
    /^\s*(api|implementation|compileOnly|runtimeOnly|\w*[tT]estImplementation)[\s(]+["']([\w.-]+:[\w.-]+)(?::([\w.+-]+))?["']/gm;
  for (const [, configuration, name, version = ""] of code.matchAll(declared))
    manifest.dependencies.push({ name: name!, version, isForDevelopment: /test/i.test(configuration!) });
};

function withoutComments(code: string): string {
  return code.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
}

export const readGemspec: ManifestReader = (manifest, text) => {
  const value = (key: string): string =>
    new RegExp(`^\\s*\\w+\\.${key}\\s*=\\s*(["'])((?:(?!\\1)[^#\\\\])+)\\1`, "m").exec(text)?.[2] ?? "";
  manifest.name = value("name") || (/Specification\.new[\s(]+["']([\w-]+)["']/.exec(text)?.[1] ?? "");
  manifest.description = value("summary") || value("description");
  const declared =
    /^\s*\w+\.add_(development_|runtime_)?dependency[\s(]+["']([\w-]+)["'](?:\s*,\s*["']([^"']+)["'])?/gm;
  for (const [, kind, name, version = ""] of text.matchAll(declared))
    manifest.dependencies.push({ name: name!, version, isForDevelopment: kind === "development_" });
};
