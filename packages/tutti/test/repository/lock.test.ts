import { join } from "node:path";
import { expect, test } from "vitest";
import { checkLock, checkRepository } from "../../../../scripts/check-lock.mjs";

const manifests = {
  "": { dependencies: {}, devDependencies: { tool: "1.2.3" }, optionalDependencies: { "tool-linux": "1.2.3" } },
  "packages/a": { dependencies: { tool: "1.2.3-beta.1" } },
};

/** Returns a valid lock, so that every test below plants one defect. */
function soundLock(planted: Record<string, object> = {}) {
  return {
    packages: {
      "": { optionalDependencies: { "tool-linux": "1.2.3" } },
      "node_modules/a": { resolved: "packages/a", link: true },
      "node_modules/tool": { integrity: "sha512-a", optionalDependencies: { "tool-linux": "1.2.3" } },
      "node_modules/tool-linux": { integrity: "sha512-b" },
      "packages/a": {},
      ...planted,
    },
  };
}

test("the lock file of this repository is valid", () => {
  expect(checkRepository(join(import.meta.dirname, "../../../.."))).toEqual([]);
});

test("a valid lock has no problems, even if a binary is nested beside the package that needs it", () => {
  expect(checkLock(soundLock(), manifests)).toEqual([]);
  const nested = soundLock({
    "node_modules/other": { integrity: "sha512-c", optionalDependencies: { "other-linux": "1.0.0" } },
    "node_modules/other/node_modules/other-linux": { integrity: "sha512-d" },
  });
  expect(checkLock(nested, manifests)).toEqual([]);
});

test.each([
  ["an address", { resolved: "https://example.org/tool.tgz" }, /names where it comes from/],
  ["an address without TLS", { resolved: "http://example.org/tool.tgz" }, /names where it comes from/],
  ["a link that leads out of the workspaces", { resolved: "../tool", link: true }, /names where it comes from/],
  ["an install script", { hasInstallScript: true }, /has an install script/],
  ["a binary that is missing", { optionalDependencies: { "tool-darwin": "1.2.3" } }, /needs tool-darwin, which is not/],
])("`checkLock` reports %s", (_title, entry, problem) => {
  const lock = soundLock({ "node_modules/tool": { integrity: "sha512-a", ...entry } });
  expect(checkLock(lock, manifests)).toEqual([expect.stringMatching(problem)]);
});

test("`checkLock` reports a binary without integrity", () => {
  const lock = soundLock({ "node_modules/tool-linux": {} });
  expect(checkLock(lock, manifests)).toContain("tool-linux has no integrity");
});

test.each(["^1.2.3", "~1.2.3", "1.x", ">=1", "*", "latest", "git+ssh://example.org/tool"])(
  "`checkLock` reports a version that is not exact: %s",
  (version) => {
    for (const kind of ["dependencies", "devDependencies", "optionalDependencies"]) {
      for (const folder of ["", "packages/a"]) {
        const file = join(folder, "package.json");
        const planted = { ...manifests, [folder]: { [kind]: { tool: version } } };
        expect(checkLock(soundLock(), planted)).toEqual([`${file} asks for tool ${version}, not an exact version`]);
      }
    }
  },
);
