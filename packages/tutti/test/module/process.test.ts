import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Lab } from "../lab/lab.ts";

it("a program that stops monitoring ends by itself, as document 004 implies", () => {
  const lab = new Lab();
  const text = (value: string) => JSON.stringify(value);
  try {
    const file = join(lab.folder, "program.ts");
    writeFileSync(
      file,
      `import { OrchestratorManager, ResponseParser, TemplateManager } from ${text(join(import.meta.dirname, "../../src/index.ts"))};
       const options = { persistencePath: ${text(lab.data)} };
       const templates = new TemplateManager(${text(lab.folder)});
       const manager = new OrchestratorManager(templates, new ResponseParser(), "local", options);
       const { id } = await manager.create({ templateId: "documentation", cwd: ${text(lab.repo)}, message: "x" });
       await manager.cancel(id);
       manager.stopMonitoring();
       console.log("end");`,
    );
    const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8" });
    expect([status, stdout.trim()], stderr).toEqual([0, "end"]);
  } finally {
    lab.tearDown();
  }
});
