import { describe, expect, test } from "vitest";
import { readModule } from "../src/languages/read-module.ts";

const read = (code: string) => readModule("src/file.ts", "TypeScript", code);
const signatures = async (code: string): Promise<string[]> =>
  (await read(code)).exports.map(({ name, signature }) => `${name}: ${signature}`);

describe("the signature of an exported name", () => {
  test.each([
    ["export function f(a: string): { b: number } { return x }", "f: export function f(a: string): { b: number }"],
    ["export function f(): () => void { return g }", "f: export function f(): () => void"],
    ["export function f(a: unknown): asserts a is string {}", "f: export function f(a: unknown): asserts a is string"],
    [
      "export const f = async <T,>(a: T, b = (1, 2)): Promise<{ a: T }> => { g() };",
      "f: export const f = async <T,>(a: T, b = (1, 2)): Promise<{ a: T }> => …",
    ],
    [
      "export const f = (a: number): ((b: number) => string) => (b) => h",
      "f: export const f = (a: number): ((b: number) => string) => …",
    ],
    [
      "export const f = (a: number): (b: number) => string => (b) => h",
      "f: export const f = (a: number): (b: number) => string => …",
    ],
    ["export const m = new Map<string, number>()", "m: export const m = new Map<string, number>()"],
    ["export const less = a < b, more = 1", "less: export const less = a < b"],
    [
      "export type U =\n  | { a: 1 }\n  | { b: 2 }\nexport const after = 1",
      "U: export type U =\n  | { a: 1 }\n  | { b: 2 }",
    ],
    [
      "export type C<T> = T extends string ? { a: T } : never",
      "C: export type C<T> = T extends string ? { a: T } : never",
    ],
    ["export const r = /[/`\"']\\//g, s = `a${`b${'}'}`}`", "r: export const r = /[/`\"']\\//g"],
    ["export default class extends Base {}", "default: export default class extends Base"],
    [
      "export abstract class K<T> extends mixin(Base, { a: 1 }) implements I<T> {}",
      "K: export abstract class K<T> extends mixin(Base, { a: 1 }) implements I<T>",
    ],
  ])("ends before the body: %s", async (code, expected) => {
    expect((await signatures(code))[0]).toBe(expected);
  });

  test("contains the overloads of a function without the implementation", async () => {
    const code =
      "export function f(a: string): void;\nexport function f(a: number): void;\nexport function f(a: unknown): void {}\n";
    expect(await signatures(code)).toEqual([
      "f: export function f(a: string): void\n\nexport function f(a: number): void",
    ]);
  });

  test("joins a value and a type of the same name", async () => {
    const code = "export const Id = z.string();\nexport type Id = z.infer<typeof Id>;\n";
    expect(await signatures(code)).toEqual(["Id: export const Id = z.string()\n\nexport type Id = z.infer<typeof Id>"]);
  });
});

describe("the names of a file", () => {
  test("are found in every form of export", async () => {
    const code = `
      import d, { x as y, type Z } from "./a.ts";
      export const { p, q: { r }, ...s } = d;
      export { y as renamed, local as "string name", d as default };
      export * from "./b.ts";
      export * as all from "./c.ts";
      export type { T } from "./d.ts";
      function local() {}
      export namespace N { export const hidden = 1 }
      export declare const declared: string
    `;
    const facts = await read(code);
    expect(facts.exports.map(({ name }) => name)).toEqual(["p", "r", "s", "string name", "N", "declared"]);
    expect(facts.reExports.map(({ name, imported, from }) => `${name}=${imported} ${from}`).toSorted()).toEqual([
      "*=* ./b.ts",
      "T=T ./d.ts",
      "all=* ./c.ts",
      "d=default ./a.ts",
      "renamed=x ./a.ts",
    ]);
  });

  test("are found in a file with any text in JSX", async () => {
    const code =
      "export function A() { return <p title='x'>Don't {'}'} :) <br /> // no `comment` </p>; }\nexport const B = 1;\n";
    expect((await read(code)).exports.map(({ name }) => name)).toEqual(["A", "B"]);
  });

  test("have the comment directly before them, and no other one", async () => {
    const code =
      "// About the file.\n\nimport a from 'a';\nf(); // trailing\nexport const one = 1;\n\n// Two,\n// in two lines.\nexport const two = 2;\n\n// eslint-disable-next-line\nexport const three = 3;\n";
    const facts = await read(code);
    expect(facts.header).toBe("About the file.");
    expect(facts.exports.map(({ doc }) => doc)).toEqual(["", "Two,\nin two lines.", ""]);
  });

  test("of a class are its public members", async () => {
    const code =
      "export class K {\n  #a = 1; private b = 2; static c = 3; static { this.c = 4 }\n  @dec({ a: 1 }) async *d<T>(x: T): AsyncGenerator<T> {}\n  get e(): number { return 1 }\n  handler = (x: Event): void => {};\n  protected f() {}\n  [Symbol.iterator]() {}\n  _g() {}\n}\n";
    expect((await read(code)).exports[0]!.members.map(({ signature }) => signature)).toEqual([
      "static c = 3",
      "async *d<T>(x: T): AsyncGenerator<T>",
      "get e(): number",
      "handler = (x: Event): void => …",
    ]);
  });
});
