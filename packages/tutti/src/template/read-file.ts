// Reads one template file that anybody may have put there: a link, a device, a huge or broken file.
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, sep } from "node:path";
import { checkRaw, type RawCheck } from "./check-raw.ts";
import { locateJsonError } from "./locate-json-error.ts";
import { MAX_TEMPLATE_BYTES } from "./raw-template.ts";
import { TuttiError } from "../schema/error.ts";

/** What changes whenever the file does; null if it is gone. Of a link, both ends count. */
export function stampOf(path: string): { stamp: string; changedMs: number } | null {
  const own = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (!own) return null;
  const parts = [own.mtimeNs, own.ctimeNs, own.size, own.ino];
  let changedMs = Number(own.ctimeMs);
  if (own.isSymbolicLink()) {
    const target = lstatSync(realPath(path) ?? path, { bigint: true, throwIfNoEntry: false });
    if (target) {
      parts.push(target.mtimeNs, target.ctimeNs, target.size, target.ino);
      changedMs = Math.max(changedMs, Number(target.ctimeMs));
    }
  }
  return { stamp: parts.join(":"), changedMs };
}

/** Every problem is a sentence that begins with the file's name. */
export function readTemplateFile(path: string): RawCheck {
  const name = basename(path);
  try {
    const check = checkRaw(parse(readText(path)));
    return "raw" in check ? check : { errors: check.errors.map((error) => `${name}: ${error}`) };
  } catch (error) {
    return { errors: [`${name} cannot be used: ${(error as Error).message}`] };
  }
}

/** The value of a text that somebody sent. */
export function parseTemplate(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new TuttiError("invalid_template", `Invalid template: ${(error as Error).message}`, { cause: error });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`it is not JSON: ${locateJsonError(text)}`, { cause: error });
  }
}

function readText(path: string): string {
  const real = realPath(path);
  if (real === null) throw new Error("it is a link that leads to nothing");
  if (!real.startsWith(realpathSync(dirname(path)) + sep)) throw new Error("it is a link that leads out of its folder");
  // The path has no links any more; one that is put there in this moment is not followed, and a pipe is not waited for.
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
