import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LineSplitter, MAX_LINE } from "../../src/session/line-splitter.ts";
import { LineTail } from "../../src/session/line-tail.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-tail-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("`LineSplitter`", () => {
  it("yields the same lines at any chunk size", () => {
    const lines = fc.array(fc.string({ unit: "grapheme" }).map((line) => line.replaceAll("\n", "")));
    fc.assert(
      fc.property(lines, fc.array(fc.nat({ max: 40 })), (wanted, cuts) => {
        const bytes = Buffer.from(wanted.map((line) => `${line}\n`).join(""));
        const splitter = new LineSplitter();
        const found: string[] = [];
        let at = 0;
        for (const length of [...cuts, bytes.length]) {
          found.push(...splitter.push(bytes.subarray(at, at + length)));
          at += length;
        }
        found.push(...splitter.flush());
        expect(found).toEqual(wanted);
      }),
    );
  });

  it("drops a line that is too long, reports it once, and yields the next line", () => {
    let dropped = 0;
    const splitter = new LineSplitter(() => dropped++);
    const chunk = Buffer.alloc(1024 * 1024, "z");
    const before = process.memoryUsage().rss;
    for (let i = 0; i < 200; i++) expect([...splitter.push(chunk)]).toEqual([]);
    expect(process.memoryUsage().rss - before).toBeLessThan(8 * MAX_LINE);
    expect([...splitter.push(Buffer.from("\nnext\n"))]).toEqual(["next"]);
    expect(dropped).toBe(1);
  });
});

describe("`LineTail`", () => {
  it("yields each line of a growing file once, also the last one without a line break", async () => {
    const file = join(folder, "raw.log");
    writeFileSync(file, "one\ntw");
    const lines: string[] = [];
    const tail = new LineTail(file, (line) => lines.push(line));
    tail.read();
    expect(lines).toEqual(["one"]);
    appendFileSync(file, "o\nthree");
    await expect.poll(() => lines).toEqual(["one", "two"]);
    tail.finish();
    tail.close();
    expect(lines).toEqual(["one", "two", "three"]);
  });
});
