// The package as users install it, with the pinned Node. `test/agents/node-versions.test.ts` uses other versions of Node.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { npmInstall, packTutti, ROOT, runOnce, runWith, versionOf } from "../repository/packed-package.ts";

const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
const version = versionOf(join(ROOT, "packages/tutti/package.json"));
let folder: string;
let tarball: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-package-"));
  tarball = packTutti(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the packed package", () => {
  it("contains the built-in agent", () => {
    const agent = join(folder, "sources/packages/tutti/dist/local-agent/agent.js");
    const prompt = JSON.stringify({ type: "user", phase: "analysis", text: "Document this project." });
    const output = execFileSync(process.execPath, [agent], { cwd: folder, input: `${prompt}\n`, encoding: "utf8" });
    expect(output).toContain("<<<ORCHESTRATOR_RESPONSE>>>");
    expect(JSON.parse(output.trimEnd().split("\n").at(-1)!)).toMatchObject({ type: "turn_end" });
  });

  it("is installed with npm install -g and carries out a run without a warning", async (context) => {
    const prefix = join(folder, "global");
    await npmInstall(context, ["--global", "--prefix", prefix, tarball], folder);
    const tutti = join(prefix, "bin/tutti");
    expect(await runWith(process.execPath, [tutti, "--version"], prefix)).toEqual({
      stdout: `${version}\n`,
      stderr: "",
    });
    expect(await runOnce(process.execPath, [tutti])).toEqual({ outcome: "success", stderr: "" });
  });

  it("is started by npx in a project, whose TypeScript compiles against its types without skipLibCheck", async (context) => {
    const project = join(folder, "project");
    mkdirSync(project);
    const files = {
      "package.json": '{ "name": "project", "private": true, "type": "module" }',
      "tsconfig.json": JSON.stringify({
        compilerOptions: { module: "nodenext", target: "es2022", strict: true, skipLibCheck: false, noEmit: true },
      }),
      "main.ts": `
        import { createClient, OrchestratorModule, RequestError, type Run } from "tutti";
        const client = createClient({ baseUrl: "http://127.0.0.1:4517", token: "secret" });
        export const ids = async (): Promise<string[]> => (await client.list()).map((run) => run.id);
        export const isMissing = (error: unknown): boolean => error instanceof RequestError && error.status === 404;
        export const statusOf = (run: Run): string => run.status;
        export const own = new OrchestratorModule("local");
        // @ts-expect-error: the types of the package are known, and not \`any\`.
        await client.create({ templateId: 7 });
      `,
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
    await npmInstall(context, [tarball], project);
    const { stdout } = await runWith(process.execPath, ["npx", "tutti", "--version"], project);
    expect(stdout).toBe(`${version}\n`);
    // The compiler prints its errors on stdout and exits with 2.
    const compiled = await runWith(process.execPath, [process.execPath, TSC, "-p", project], project).catch(
      (error: unknown) => error,
    );
    expect(compiled).toEqual({ stdout: "", stderr: "" });
  });
});
