import { readFile, readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { exists } from "../folder.ts";

const HASH = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** A ref has another value if it names another ref or is damaged, so check `isHash` before using one as a commit. */
export const isHash = (value: string): boolean => HASH.test(value);

/**
 * Returns the value of each ref that is one of the `prefixes`, for example `refs/heads`, or below one. Returns null if the
 * repository keeps its refs in the reftable format, which only git reads.
 */
export async function readRefFiles(
  commonDir: string,
  prefixes: readonly string[],
): Promise<Map<string, string> | null> {
  if (await exists(join(commonDir, "reftable"))) return null;
  const refs = new Map<string, string>();
  const packed = await readFile(join(commonDir, "packed-refs"), "utf8").catch(() => "");
  for (const [, value, ref] of packed.matchAll(/^([0-9a-f]+) (refs\/.*)$/gm))
    if (prefixes.some((prefix) => ref === prefix || ref!.startsWith(asFolder(prefix)))) refs.set(ref!, value!);
  // A file of its own wins over the value in `packed-refs`.
  for (const prefix of prefixes)
    for (const ref of [prefix, ...(await filesBelow(commonDir, prefix))]) {
      const value = await readFile(join(commonDir, ref), "utf8").catch(() => null);
      if (value !== null && !ref.endsWith(".lock")) refs.set(ref, value.trim());
    }
  return refs;
}

const asFolder = (prefix: string): string => prefix.replace(/\/?$/, "/");

async function filesBelow(commonDir: string, prefix: string): Promise<string[]> {
  const entries = await readdir(join(commonDir, prefix), { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.flatMap((entry) =>
    entry.isDirectory() ? [] : [relative(commonDir, join(entry.parentPath, entry.name))],
  );
}
