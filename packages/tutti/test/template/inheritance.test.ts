import { rmSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inherit, leavesOf, merge } from "../../src/template/inherit.ts";
import { TemplateLab, wholeTemplate } from "./template-lab.ts";

type Raw = Record<string, unknown>;

/** The shape of a template: every value has the same type wherever it appears. True marks a value that is set. */
const there = fc.constant(true);
const shape = fc.record(
  {
    text: there,
    list: there,
    config: fc.record({ one: there, two: there, budget: fc.record({ usd: there }, { requiredKeys: [] }) }),
    phases: fc.record({ analysis: fc.record({ tools: there, timeout: there }, { requiredKeys: [] }) }),
  },
  { requiredKeys: [] },
);
/** A random selection of the members of the shape, so that every combination of set and unset members occurs. */
const partial = shape.chain((whole) =>
  fc.infiniteStream(fc.boolean()).map((choices) => {
    const prune = (value: unknown): unknown =>
      typeof value === "object"
        ? Object.fromEntries(
            Object.entries(value as Raw)
              .filter(() => choices.next().value)
              .map(([name, member]) => [name, prune(member)]),
          )
        : value;
    return prune(whole) as Raw;
  }),
);

/** Labels every value with its template, so that no two templates have equal values. */
function label(value: Raw, by: string): Raw {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (typeof member === "object") return [name, label(member as Raw, by)];
      return [name, name === "list" || name === "tools" ? [by, "x"] : by];
    }),
  );
}

const chainOf = (length: number) =>
  fc
    .tuple(...Array.from({ length }, () => partial))
    .map((all) => all.map((one, at) => ({ name: `t${at}`, raw: label(one, `t${at}`) })));

const leaves = (value: unknown) => new Map(leavesOf(value).filter(([, leaf]) => !isEmptyObject(leaf)));
const isEmptyObject = (value: unknown) =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;

describe("inheritance follows the law", () => {
  it("that the child wins, and that members it does not set come from the parent (D4-126, D4-127)", () => {
    fc.assert(
      fc.property(chainOf(2), ([child, parent]) => {
        const expected = new Map([...leaves(parent!.raw), ...leaves(child!.raw)]);
        expect(leaves(inherit([child!, parent!]).raw)).toEqual(expected);
        expect(leaves(merge(parent!.raw, child!.raw))).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it("that arrays are replaced, never merged (D4-128)", () => {
    const list = fc.array(fc.nat(), { maxLength: 4 });
    fc.assert(
      fc.property(list, list, (ofParent, ofChild) => {
        const deep = (value: number[]) => ({ tags: value, phases: { analysis: { tools: { required: value } } } });
        const chain = [
          { name: "child", raw: deep(ofChild) },
          { name: "parent", raw: deep(ofParent) },
        ];
        expect(inherit(chain).raw).toEqual(deep(ofChild));
        expect(merge(deep(ofParent), deep(ofChild))).toEqual(deep(ofChild));
      }),
    );
  });

  it("also for templates on disk: single members override, and arrays are replaced (D4-126, D4-127, D4-128)", () => {
    const lab = new TemplateLab();
    const tools = (required: string[]) => ({ tools: { required } });
    const ofParent = { phases: { analysis: { timeout: 50_000, ...tools(["Read", "Grep"]) } }, tags: ["a", "b"] };
    lab.user("parent", wholeTemplate("parent", ofParent));
    lab.user("child", { extends: "parent", phases: { analysis: tools(["Glob"]) }, tags: ["c"] });
    const { template } = lab.open().resolve("child");
    expect(template.phases.analysis).toMatchObject({ timeout: 50_000, ...tools(["Glob"]) });
    expect(template.tags).toEqual(["c"]);
  });

  it("that an empty child changes nothing, and a missing parent adds nothing", () => {
    fc.assert(
      fc.property(chainOf(1), ([one]) => {
        expect(merge(one!.raw, {})).toEqual(one!.raw);
        expect(merge({}, one!.raw)).toEqual(one!.raw);
      }),
    );
  });

  it("that a chain can be grouped anywhere", () => {
    fc.assert(
      fc.property(chainOf(3), ([a, b, c]) => {
        expect(merge(merge(a!.raw, b!.raw), c!.raw)).toEqual(merge(a!.raw, merge(b!.raw, c!.raw)));
      }),
      { numRuns: 500 },
    );
  });

  it("that the whole chain is the merge of its links, oldest first", () => {
    fc.assert(
      fc.property(chainOf(4), (chain) => {
        const folded = chain.map(({ raw }) => raw).reduceRight((parent, child) => merge(parent, child), {});
        expect(inherit(chain).raw).toEqual(folded);
      }),
    );
  });

  it("that merging does not modify its inputs", () => {
    fc.assert(
      fc.property(chainOf(2), ([child, parent]) => {
        const before = JSON.stringify([child, parent]);
        merge(parent!.raw, child!.raw);
        expect(JSON.stringify([child, parent])).toBe(before);
      }),
    );
  });
});

describe("provenance", () => {
  it("names for every value the template that sets it, and removing it there changes the result", () => {
    fc.assert(
      fc.property(chainOf(3), (chain) => {
        const { raw, origins } = inherit(chain);
        for (const [path, value] of leaves(raw)) {
          const from = origins.get(path);
          expect([value].flat()[0], path).toBe(from);
          const without = chain.map((link) => (link.name === from ? { ...link, raw: remove(link.raw, path) } : link));
          expect(leaves(inherit(without).raw).get(path), path).not.toEqual(value);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("of a resolved template is total, and a value that no template sets comes from the default", () => {
    const lab = new TemplateLab();
    const library = lab.open();
    const settings = fc.record(
      {
        maxWorkers: fc.integer({ min: 1, max: 20 }),
        pollInterval: fc.integer({ min: 500, max: 30_000 }),
        autoSpawn: fc.boolean(),
        budget: fc.record({ usd: fc.constantFrom(1, 2.5) }, { requiredKeys: [] }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(settings, settings, (ofParent, ofChild) => {
        lab.user("parent", wholeTemplate("parent", { config: ofParent }));
        lab.user("child", { extends: "parent", config: ofChild });
        const { template, provenance, chain } = library.resolve("child");
        expect(Object.keys(provenance).toSorted()).toEqual(
          leavesOf(template)
            .map(([path]) => path)
            .toSorted(),
        );
        expect(Object.values(provenance).every((name) => [...chain, "(default)"].includes(name))).toBe(true);
        for (const name of ["maxWorkers", "pollInterval", "autoSpawn"]) {
          const said = name in ofChild ? "child" : name in ofParent ? "parent" : "(default)";
          expect(provenance[`/config/${name}`]).toBe(said);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("resolves the short form of a hook, whose other members are defaults", () => {
    const lab = new TemplateLab();
    lab.user("parent", wholeTemplate("parent", { hooks: { onError: { run: "mine", timeout: 500 } } }));
    lab.user("child", { extends: "parent", hooks: { onError: "yours" } });
    const { template, provenance } = lab.open().resolve("child");
    expect(template.hooks.onError).toEqual({ run: "yours", timeout: 30_000, onFailure: "continue" });
    expect(provenance).toMatchObject({ "/hooks/onError/run": "child", "/hooks/onError/timeout": "(default)" });
  });
});

describe("a chain of templates", () => {
  it("is followed from the child through all its parents, and the child's values win (D4-122, D4-124, D4-125)", () => {
    const lab = new TemplateLab();
    lab.user(
      "grandparent",
      wholeTemplate("grandparent", { config: { maxWorkers: 1, maxRetries: 1, pollInterval: 500 } }),
    );
    lab.user("parent", { extends: "grandparent", config: { maxWorkers: 2, maxRetries: 4 } });
    lab.user("child", { extends: "parent", config: { maxWorkers: 3 } });
    const { template, chain, provenance } = lab.open().resolve("child");
    expect(chain).toEqual(["child", "parent", "grandparent"]);
    expect(template.config).toMatchObject({ maxWorkers: 3, maxRetries: 4, pollInterval: 500 });
    expect(provenance).toMatchObject({
      "/config/maxWorkers": "child",
      "/config/maxRetries": "parent",
      "/config/pollInterval": "grandparent",
      "/config/workerTimeout": "(default)",
    });
  });

  it("of the user leads through subsession-doc to _default (D4-123)", () => {
    const lab = new TemplateLab();
    lab.user("my-custom-doc", { extends: "subsession-doc" });
    expect(lab.open().resolve("my-custom-doc")).toMatchObject({
      chain: ["my-custom-doc", "subsession-doc", "_default"],
      places: ["user", "system", "system"],
    });
  });

  it("lets a child set ten workers and keep its parent's timeout for each of them (D4-130, D4-456)", () => {
    const lab = new TemplateLab();
    lab.user("my-template", { extends: "_default", config: { maxWorkers: 10 } });
    const { template, provenance } = lab.open().resolve("my-template");
    expect(template.config).toMatchObject({ maxWorkers: 10, workerTimeout: 300_000 });
    expect(provenance).toMatchObject({ "/config/maxWorkers": "my-template", "/config/workerTimeout": "_default" });
  });

  it("loses a hook if a child sets it to null", () => {
    const lab = new TemplateLab();
    lab.user("parent", wholeTemplate("parent", { hooks: { onError: "alarm", onWorkerStart: "greet" } }));
    lab.user("child", { extends: "parent", hooks: { onError: null } });
    const { template, provenance } = lab.open().resolve("child");
    expect(template.hooks).toMatchObject({ onError: null, onWorkerStart: { run: "greet" } });
    expect(provenance["/hooks/onError"]).toBe("child");
  });

  it("changes one member of a parent's hook and keeps the others", () => {
    const lab = new TemplateLab();
    lab.user("parent", wholeTemplate("parent", { hooks: { onError: { run: "alarm", onFailure: "pause" } } }));
    lab.user("child", { extends: "parent", hooks: { onError: { timeout: 500 } } });
    const { template, provenance } = lab.open().resolve("child");
    expect(template.hooks.onError).toEqual({ run: "alarm", timeout: 500, onFailure: "pause" });
    expect(provenance).toMatchObject({ "/hooks/onError/run": "parent", "/hooks/onError/timeout": "child" });
  });

  it("that forms a cycle is rejected with the whole path (D4-131, D4-169)", () => {
    const lab = new TemplateLab();
    lab.user("a", { extends: "b" });
    lab.user("b", { extends: "a" });
    lab.user("into-it", { extends: "a" });
    lab.user("itself", { extends: "itself" });
    const library = lab.open();
    const refusal = (id: string) => () => library.resolve(id);
    expect(refusal("a")).toThrow(
      expect.objectContaining({ code: "invalid_template", message: "Circular inheritance detected: a -> b -> a" }),
    );
    expect(refusal("b")).toThrow(/^Circular inheritance detected: b -> a -> b$/);
    expect(refusal("into-it")).toThrow(/^Circular inheritance detected: into-it -> a -> b -> a$/);
    expect(refusal("itself")).toThrow(/^Circular inheritance detected: itself -> itself$/);
    expect(library.validate({ id: "c", name: "C", extends: "c" }).errors).toEqual([
      "Circular inheritance detected: c -> c",
    ]);
  });

  it("with a missing parent is rejected with the whole path (D4-167)", () => {
    const lab = new TemplateLab();
    lab.user("child", { extends: "parent" });
    lab.user("parent", { extends: "nobody" });
    expect(() => lab.open().resolve("child")).toThrow(/"nobody".*child -> parent -> nobody/);
    expect(lab.open().validate({ id: "x", name: "X", extends: "child" }).errors.join()).toMatch(
      /x -> child -> parent -> nobody/,
    );
  });

  it("may contain a template that is incomplete by itself, if the child adds what is missing", () => {
    const lab = new TemplateLab();
    lab.user("limits", { config: { maxWorkers: 2 } });
    lab.user("child", wholeTemplate("child", { extends: "limits" }));
    const library = lab.open();
    expect(() => library.resolve("limits")).toThrow(/"prompts" is missing/);
    expect(library.resolve("child").template.config.maxWorkers).toBe(2);
  });
});

describe("a template of a project", () => {
  it("may extend a user or system template, which see nothing of the project", () => {
    const lab = new TemplateLab();
    lab.user("mine", { extends: "documentation", config: { maxWorkers: 3 } });
    lab.ofProject("ours", { extends: "mine", config: { maxRetries: 0 } });
    lab.ofProject("documentation", { extends: "documentation", config: { maxWorkers: 9, pollInterval: 600 } });
    const library = lab.open();
    expect(library.resolve("ours", lab.project)).toMatchObject({
      chain: ["ours", "mine", "documentation", "_default"],
      places: ["project", "user", "system", "system"],
      template: { config: { maxWorkers: 3, maxRetries: 0, pollInterval: 2000 } },
    });
    expect(() => library.resolve("ours")).toThrow(expect.objectContaining({ code: "template_not_found" }));
  });

  it("with the id of an outer template that it extends refines that template for this project only", () => {
    const lab = new TemplateLab();
    lab.ofProject("documentation", { extends: "documentation", config: { maxWorkers: 2 } });
    lab.ofProject("ours", { extends: "documentation" });
    const library = lab.open();
    const refined = library.resolve("documentation", lab.project);
    expect(refined).toMatchObject({
      place: "project",
      chain: ["documentation", "documentation@system", "_default"],
      template: { config: { maxWorkers: 2 } },
    });
    expect(refined.provenance).toMatchObject({
      "/config/maxWorkers": "documentation",
      "/prompts/worker/user": "documentation@system",
    });
    expect(library.resolve("ours", lab.project).template.config.maxWorkers).toBe(2);
    expect(library.resolve("documentation")).toMatchObject({ place: "system", chain: ["documentation", "_default"] });
  });

  it("goes through the user's refinement to the system template of the same id", () => {
    const lab = new TemplateLab();
    lab.user("documentation", { extends: "documentation", config: { maxWorkers: 3, maxRetries: 1 } });
    lab.ofProject("documentation", { extends: "documentation", config: { maxWorkers: 4 } });
    const library = lab.open();
    expect(library.resolve("documentation", lab.project)).toMatchObject({
      chain: ["documentation", "documentation@user", "documentation@system", "_default"],
      template: { config: { maxWorkers: 4, maxRetries: 1 } },
    });
    rmSync(lab.projectFolder, { recursive: true });
    expect(library.resolve("documentation", lab.project).template.config.maxWorkers).toBe(3);
  });
});

function remove(raw: Raw, path: string): Raw {
  const copy = structuredClone(raw);
  const names = path.slice(1).split("/");
  let owner = copy;
  for (const name of names.slice(0, -1)) owner = owner[name] as Raw;
  delete owner[names.at(-1)!];
  return copy;
}
