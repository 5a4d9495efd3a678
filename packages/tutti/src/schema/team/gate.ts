// The security gate of a team: a deployment starts only while the gate of its environment is open for the very commit
// that is deployed. `GateEntry` is folded from the `gate:` events.
import { z } from "zod";

const EnvironmentName = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,60}$/, "must be a name of letters, digits, _ and -");

export const GatePolicy = z.strictObject({
  /** Whether an admin may open the gate without an approval. */
  override: z.boolean().optional(),
  /** Whether a `CONDITIONAL` review opens the gate. */
  conditional: z.boolean().optional(),
  /** Milliseconds after which an approval expires. Without it, an approval lasts until the code changes. */
  approvalTtl: z.number().int().min(1).optional(),
});
export type GatePolicy = z.infer<typeof GatePolicy>;

export const GateSettings = z.strictObject({
  /** The target of the deployment task. `environments` may name others. */
  environment: EnvironmentName.default("staging"),
  environments: z.record(EnvironmentName, GatePolicy).default({}),
});
export type GateSettings = z.infer<typeof GateSettings>;

/** The value of `GateSettings.parse({})`, for a team without `gate`. */
export const DEFAULT_GATE: GateSettings = { environment: "staging", environments: {} };

export interface GateEntry {
  state: "closed" | "open" | "overridden";
  /** The commit that may be deployed. Null while the gate is closed. */
  commit: string | null;
  approvedBy: string | null;
  approvedAt: number | null;
  /** Why the gate is closed, or the reason in the newest of `overrides`. */
  reasons: string[];
  /** The commit of every task that the review covers. Another commit there closes the gate. */
  covers: Record<string, string | null>;
  /** Number of moved refs of the run when the gate opened. Another moved ref closes it. */
  movedRefs: number;
  /** Reviews that did not approve. The gate stays closed until each of them, or a review of its fix, approves. */
  refusedBy?: string[];
  /** Every override of this environment, also after the gate has closed again. */
  overrides: GateOverride[];
}

export interface GateOverride {
  by: string;
  reason: string;
  at: number;
  commit: string;
}

/** The target of the deployment comes first. */
export const environmentsOf = ({ environment, environments }: GateSettings): string[] => [
  ...new Set([environment, ...Object.keys(environments)]),
];

export const policyOf = ({ environments }: GateSettings, environment: string): GatePolicy =>
  Object.hasOwn(environments, environment) ? environments[environment]! : {};

/** The name of an environment may be that of a member of every object, for example `constructor`. */
export const gateEntry = ({ gate = {} }: { gate?: Record<string, GateEntry> }, environment: string) =>
  Object.hasOwn(gate, environment) ? gate[environment] : undefined;
