import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { TESTED_PROGRAMS } from "../../src/session/tested-versions.ts";

it("The versions in `TESTED_PROGRAMS` are those that the tests install", () => {
  const file = new URL("../../../../scripts/agents.json", import.meta.url);
  const installed = JSON.parse(readFileSync(file, "utf8")) as Record<string, { package: string; version: string }>;
  for (const [name, { version, npmPackage }] of Object.entries(TESTED_PROGRAMS)) {
    expect(installed[name], name).toEqual({ package: npmPackage, version });
  }
});
