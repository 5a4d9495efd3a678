import type { Output } from "../terminal/output.ts";
import { readVersion } from "../../own-files.ts";
import { diagnose } from "../../doctor/diagnose.ts";

export async function doctor(output: Output): Promise<number> {
  const { ok, checks } = await diagnose({ dataDir: output.dataDir, version: readVersion() });
  output.value({ ok, checks });
  const width = Math.max(...checks.map(({ name }) => name.length));
  for (const { name, status, found, advice } of checks) {
    const start = `${status.padEnd("warning".length)}  ${name.padEnd(width)}  `;
    output.result(start + found);
    if (advice !== undefined) output.result(" ".repeat(start.length) + advice);
  }
  output.result(ok ? "Tutti can work here." : "Tutti cannot work here. Follow the advice for git and the data folder.");
  return ok ? 0 : 1;
}
