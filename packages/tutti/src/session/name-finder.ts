// `NAME_FINDER` compares names with the parsers of the local agent. They run in a process of their own, because a
// grammar takes memory and time that no other run should wait for.
import { spawn } from "node:child_process";
import { extname } from "node:path";
import { json } from "node:stream/consumers";
import { z } from "zod";
import { assetPath } from "../own-files.ts";
import { UsedName } from "../schema/outcome.ts";

const PARSED = new Set(
  "ts mts cts tsx js mjs cjs jsx py pyi go rs java cs c h cc cpp cxx hpp hh rb php sh bash".split(" "),
);
/** Files that name a package, by the extensions of the files that may be in it. */
const PACKAGE_FILES: readonly [RegExp, string][] = [
  [/^[cm]?[jt]sx?$/, "package.json"],
  [/^pyi?$/, "pyproject.toml"],
  [/^go$/, "go.mod"],
  [/^rs$/, "Cargo.toml"],
];
const TIMEOUT_MS = 60_000;

export const NAME_FINDER = {
  isParsed: (path: string): boolean => PARSED.has(extensionOf(path)),
  packageFile: (path: string): string | null =>
    PACKAGE_FILES.find(([extension]) => extension.test(extensionOf(path)))?.[1] ?? null,

  async find(works: readonly object[], packages: readonly object[], signal: AbortSignal): Promise<UsedName[]> {
    const file = assetPath("../local-agent/src/name-comparison.ts", "dist/local-agent/name-comparison.js");
    const child = spawn(process.execPath, [file], {
      cwd: "/",
      env: { PATH: process.env["PATH"] },
      stdio: ["pipe", "pipe", "ignore"],
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      killSignal: "SIGKILL",
    });
    const failed = new Promise<never>((_, reject) => void child.on("error", reject));
    // A program that ends early reads no input; then its output is no JSON.
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify({ works, packages }));
    return z.array(UsedName).parse(await Promise.race([json(child.stdout), failed]));
  },
};

const extensionOf = (path: string): string => extname(path).slice(1).toLowerCase();
