// `Manifest` has the same form for all ecosystems.

export interface Script {
  command: string;
  meaning: string;
}

interface Dependency {
  name: string;
  version: string;
  isForDevelopment: boolean;
}

export interface Manifest {
  path: string;
  folder: string;
  ecosystem: "npm" | "Python" | "Go" | "Rust" | "Maven" | "Gradle" | "PHP" | "Ruby" | ".NET";
  name: string;
  /** The name under which other packages depend on this one, if it is not `name`. */
  id?: string;
  description: string;
  scripts: Script[];
  /** Entry points, spelled as in the manifest. */
  entries: string[];
  dependencies: Dependency[];
  isWorkspaceRoot: boolean;
}

export type ManifestReader = (manifest: Manifest, text: string, context: ManifestContext) => void;

export interface ManifestContext {
  /** Determined by the lock file at the root. */
  packageManager: string;
  /** The tables of the `Cargo.toml` of the workspace, from which its members inherit. */
  cargoWorkspace: Record<string, unknown>;
  read: (path: string) => string | null;
}

export function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
