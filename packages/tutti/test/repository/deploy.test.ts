// The files of `deploy/` name commands, flags, variables and routes of Tutti, which must exist.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { commandTable } from "../../../../scripts/generate-cli-docs.mjs";
import { ROUTES } from "../../src/schema/api/routes.ts";

interface Container {
  image: string;
  args: string[];
  readinessProbe?: { httpGet: { path: string } };
}
interface Manifest {
  kind: string;
  spec: { template?: { spec: { containers: Container[]; terminationGracePeriodSeconds?: number } } };
}
interface ComposeFile {
  services: Record<string, { image: string; command?: string[]; stop_grace_period?: string }>;
}

const read = (name: string): string => readFileSync(join(import.meta.dirname, "../../../../deploy", name), "utf8");
const compose = parse(read("compose.yaml")) as ComposeFile;
const manifests = parseAllDocuments(read("kubernetes.yaml")).map((document) => document.toJS() as Manifest);
const containers = manifests.flatMap(({ spec }) => spec.template?.spec.containers ?? []);
const services = Object.values(compose.services).filter(({ image }) => image === "tutti");

const commands = [...services.map(({ command }) => command!), ...containers.map(({ args }) => args)];
const graceOf = (args: readonly string[]): number => Number(args[args.indexOf("--grace") + 1]);

it.each(commands.map((args) => [args.join(" "), args] as const))("%s is a command with existing flags", (_, args) => {
  const command = commandTable().commands.find((each: Command) => each.name() === args[0])!;
  const { operands, unknown } = command.parseOptions(args.slice(1));
  expect({ operands, unknown }).toEqual({ operands: [], unknown: [] });
});

it("a host that stops has more time than its sessions", () => {
  const worker = compose.services["worker"]!;
  expect(Number.parseInt(worker.stop_grace_period!, 10)).toBeGreaterThan(graceOf(worker.command!));
  const template = manifests
    .flatMap(({ spec }) => spec.template ?? [])
    .find(({ spec }) => spec.containers[0]!.args[0] === "worker")!;
  expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThan(graceOf(template.spec.containers[0]!.args));
});

it("the probes use an existing route", () => {
  const paths = containers.flatMap(({ readinessProbe }) => readinessProbe?.httpGet.path ?? []);
  expect(paths.map((path) => `GET ${path}`).filter((route) => !Object.hasOwn(ROUTES, route))).toEqual([]);
  expect(paths).toHaveLength(1);
});
