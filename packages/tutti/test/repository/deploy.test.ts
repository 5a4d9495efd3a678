// The files of `deploy/` conform to the schemas of Compose and Kubernetes, and name commands, flags and routes of Tutti,
// which must exist.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { StatefulSet } from "kubernetes-types/apps/v1.js";
import { beforeAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { brokenReferences, composeFaults, kubernetesFaults, type Manifest } from "./deploy-schemas.ts";
import { commandTable } from "../../../../scripts/generate-cli-docs.mjs";
import { ROUTES } from "../../src/schema/api/routes.ts";

interface ComposeFile {
  services: Record<string, { image: string; command?: string[]; stop_grace_period?: string }>;
}

const read = (name: string): string => readFileSync(join(import.meta.dirname, "../../../../deploy", name), "utf8");
const COMPOSE = read("compose.yaml");
const KUBERNETES = read("kubernetes.yaml");
const manifestsIn = (text: string): Manifest[] => parseAllDocuments(text).map((each) => each.toJS() as Manifest);

const compose = parse(COMPOSE) as ComposeFile;
const pods = manifestsIn(KUBERNETES)
  .filter((each): each is StatefulSet & Manifest => each.kind === "StatefulSet")
  .map(({ spec }) => spec!.template.spec!);
const containers = pods.flatMap((pod) => pod.containers);
const services = Object.values(compose.services).filter(({ image }) => image === "tutti");

const commands = [...services.map(({ command }) => command!), ...containers.map(({ args }) => args!)];
const graceOf = (args: readonly string[]): number => Number(args[args.indexOf("--grace") + 1]);

it.each(commands.map((args) => [args.join(" "), args] as const))("%s is a command with existing flags", (_, args) => {
  const command = commandTable().commands.find((each: Command) => each.name() === args[0])!;
  const { operands, unknown } = command.parseOptions(args.slice(1));
  expect({ operands, unknown }).toEqual({ operands: [], unknown: [] });
});

it("a host that stops has more time than its sessions", () => {
  const worker = compose.services["worker"]!;
  expect(Number.parseInt(worker.stop_grace_period!, 10)).toBeGreaterThan(graceOf(worker.command!));
  const pod = pods.find(({ containers: [first] }) => first!.args![0] === "worker")!;
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(graceOf(pod.containers[0]!.args!));
});

it("the probes use an existing route", () => {
  const paths = containers.flatMap(({ readinessProbe }) => readinessProbe?.httpGet?.path ?? []);
  expect(paths.map((path) => `GET ${path}`).filter((route) => !Object.hasOwn(ROUTES, route))).toEqual([]);
  expect(paths).toHaveLength(1);
});

/** Replaces the first `from` in `text`, which has one. */
function change(text: string, from: string, to: string): string {
  expect(text).toContain(from);
  return text.replace(from, to);
}

describe("the schema of Compose", () => {
  it("accepts compose.yaml", () => expect(composeFaults(compose)).toEqual([]));

  it.each([
    ["a misspelt field", "stop_grace_period:", "stop_grace_time:", "/services/worker must NOT have additional"],
    ["a wrong type", "replicas: 2", 'replicas: "two"', "/services/worker/deploy/replicas must be"],
    [
      "a duration without a unit",
      "interval: 5s",
      'interval: "5"',
      "/services/database/healthcheck/interval must match",
    ],
    ["an unknown condition", "service_healthy", "healthy", "/services/server/depends_on/database/condition must be"],
    ["an unknown section", "volumes:\n  database:", "volume:\n  database:", " must NOT have additional"],
  ])("rejects %s", (_, from, to, fault) => {
    expect(composeFaults(parse(change(COMPOSE, from, to))).join("\n")).toContain(fault);
  });
});

describe("the types of Kubernetes", () => {
  const BROKEN: [what: string, from: string, to: string, fault: RegExp][] = [
    ["a misspelt field", "readinessProbe:", "readynessProbe:", /'"readynessProbe"' does not exist/],
    ["a misspelt field of a list", "mountPath: /home", "mountpath: /home", /'"mountpath"' does not exist/],
    ["a wrong type", "replicas: 3", 'replicas: "three"', /Type 'string' is not assignable to type 'number'/],
    ["a number as an argument", '"2"', "2", /Type 'number' is not assignable to type 'string'/],
    ["a missing field", "  serviceName: tutti\n", "", /Property 'serviceName' is missing/],
    ["an unknown version", "apiVersion: apps/v1", "apiVersion: apps/v9", /Cannot find module '.*apps\/v9'/],
    ["an unknown kind", "kind: StatefulSet", "kind: StatefullSet", /no exported member '?StatefullSet/],
  ];
  let faults: string[][];
  beforeAll(() => {
    const broken = BROKEN.map(([, from, to]) => manifestsIn(change(KUBERNETES, from, to)));
    faults = kubernetesFaults([manifestsIn(KUBERNETES), ...broken]);
  });

  it("accept kubernetes.yaml", () => expect(faults[0]).toEqual([]));

  it.each(BROKEN.map(([what, , , fault], i) => [what, fault, i + 1] as const))("reject %s", (_, fault, i) => {
    expect(faults[i]!.join("\n")).toMatch(fault);
  });
});

describe("the names in kubernetes.yaml, which types do not compare,", () => {
  it("exist", () => expect(brokenReferences(manifestsIn(KUBERNETES))).toEqual([]));

  it.each([
    [
      "a selector",
      "matchLabels: { app: tutti-server }",
      "matchLabels: { app: server }",
      "selects pods without its labels",
    ],
    ["a service", "selector: { app: tutti-worker }", "selector: { app: worker }", "tutti-worker selects no pod"],
    ["a port", "targetPort: http", "targetPort: web", 'tutti has no port "web"'],
    ["a probe", "port: http }", "port: web }", 'tutti-server has no port "web"'],
    ["a volume", "- { name: data, mountPath", "- { name: files, mountPath", 'tutti-server has no volume "files"'],
    ["a service of a set", "serviceName: tutti-worker", "serviceName: worker", 'tutti-worker has no service "worker"'],
    ["a variable", "name: TUTTI_REPOSITORY", "name: REPOSITORY", 'tutti-worker has no variable "TUTTI_REPOSITORY"'],
  ])("are noticed if that of %s is wrong", (_, from, to, fault) => {
    expect(brokenReferences(manifestsIn(change(KUBERNETES, from, to))).join("\n")).toContain(fault);
  });
});
