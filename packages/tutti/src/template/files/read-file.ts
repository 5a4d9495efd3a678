// `readTemplateFile` does not trust the path: it may be a link, a device, or a huge or broken file.
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, sep } from "node:path";
import { checkRaw, type RawCheck } from "../check/check-raw.ts";
import { locateJsonError } from "../check/locate-json-error.ts";
import { MAX_TEMPLATE_BYTES, type RawTemplate } from "../raw-template.ts";
import { parseBoundedJson } from "../../schema/bounded-json.ts";
import { TuttiError } from "../../schema/error.ts";

/** `stamp` changes with the file. For a link, the link and its target count. Null if there is no file. */
export function stampOf(path: string): { stamp: string; changedMs: number } | null {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (!stats) return null;
  const parts = [stats.mtimeNs, stats.ctimeNs, stats.size, stats.ino];
  let changedMs = Number(stats.ctimeMs);
  if (stats.isSymbolicLink()) {
    const target = lstatSync(realPath(path) ?? path, { bigint: true, throwIfNoEntry: false });
    if (target) {
      parts.push(target.mtimeNs, target.ctimeNs, target.size, target.ino);
      changedMs = Math.max(changedMs, Number(target.ctimeMs));
    }
  }
  return { stamp: parts.join(":"), changedMs };
}

/** Every error is a sentence that starts with the name of the file. With `isOwn`, the file is not checked. */
export function readTemplateFile(path: string, isOwn = false): RawCheck {
  const name = basename(path);
  try {
    const content = parse(readText(path));
    const check = isOwn ? { raw: content as RawTemplate } : checkRaw(content);
    return "raw" in check ? check : { errors: check.errors.map((error) => `${name}: ${error}`) };
  } catch (error) {
    return { errors: [`${name} cannot be used: ${(error as Error).message}`] };
  }
}

/** Unlike `readTemplateFile`, throws for a text that is not JSON or too large to examine. */
export function parseTemplate(text: string): unknown {
  try {
    return parse(text, parseBoundedJson);
  } catch (error) {
    if (error instanceof TuttiError) throw error;
    throw new TuttiError("invalid_template", `Invalid template: ${(error as Error).message}`, { cause: error });
  }
}

function parse(text: string, read: (text: string) => unknown = JSON.parse): unknown {
  try {
    return read(text);
  } catch (error) {
    if (error instanceof TuttiError) throw error;
    throw new Error(`it is not JSON: ${locateJsonError(text)}`, { cause: error });
  }
}

function readText(path: string): string {
  const real = realPath(path);
  if (real === null) throw new Error("it is a link to a file that does not exist");
  if (!real.startsWith(realpathSync(dirname(path)) + sep)) throw new Error("it is a link to a file outside its folder");
  // `O_NOFOLLOW` rejects a link created after the check, and `O_NONBLOCK` does not wait for the writer of a pipe.
  const fd = openSync(real, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    checkStats(fstatSync(fd));
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(fd));
  } finally {
    closeSync(fd);
  }
}

function checkStats(stats: Stats): void {
  if (!stats.isFile()) throw new Error("it is not a file");
  if (stats.size > MAX_TEMPLATE_BYTES) throw new Error(`it is larger than ${MAX_TEMPLATE_BYTES} bytes`);
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ELOOP") return null;
    throw error;
  }
}
