// `loadPg` loads the PostgreSQL client, an optional peer dependency that only installations over several machines need.
import { TuttiError } from "../../schema/error.ts";

type PgModule = (typeof import("pg"))["default"];

/** `DATABASE_PACKAGES` are needed for `--database-url`, in the versions that Tutti is tested with. */
const DATABASE_PACKAGES = ["pg@8.23.1", "pg-boss@12.35.0"];

export async function loadPg(load: () => Promise<{ default: PgModule }> = () => import("pg")): Promise<PgModule> {
  try {
    return (await load()).default;
  } catch (error) {
    if (!isMissingPackage(error)) throw error;
    throw missingPackages(error);
  }
}

/** `isMissingPackage` is false for an installed package that is broken. */
export const isMissingPackage = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === "ERR_MODULE_NOT_FOUND";

export const missingPackages = (cause: unknown): TuttiError =>
  new TuttiError(
    "packages_missing",
    `A database needs packages that are not installed. Install them with "npm install ${DATABASE_PACKAGES.join(" ")}", and with --global if Tutti was installed so.`,
    { cause },
  );
