import { expect, it } from "vitest";
import { z as zod } from "zod";
import { lazily, z } from "../../../../scripts/deferred-zod.mjs";

/** The same schemas, made by zod and by its substitute in a build. */
const declare = (with_: typeof zod) => {
  const Name = with_
    .string()
    .regex(/^[a-z]+$/, "must be letters")
    .describe("A name.");
  const Item = with_.strictObject({
    name: Name,
    tags: with_.array(with_.enum(["a", "b"])).default([]),
    size: with_.number().int().min(1).max(9).optional(),
    at: with_.iso.datetime().nullable(),
  });
  const More = Item.extend({ kind: with_.literal("more"), any: with_.record(with_.string(), with_.unknown()) });
  Item.parse({ name: "x", at: null });
  const Later = Item.omit({ tags: true })
    .extend({ other: Name.or(with_.number()) })
    .partial();
  const Same = with_.looseObject({ pair: with_.tuple([with_.boolean(), Name]) }).refine(({ pair }) => pair[0]);
  return { Name, Item, More, Later, Either: with_.union([Item, More]), Same };
};

it("builds the schemas of a build when they are used, and they are those of zod", () => {
  const [real, deferred] = [declare(zod), declare(z)];
  const inputs = [
    "name",
    "1",
    { name: "x", at: null },
    { name: "x", at: "2026-01-01T00:00:00Z", size: 10, tags: ["c"] },
    { name: "x", at: null, kind: "more", any: { a: 1 } },
    { pair: [true, "x"], more: 1 },
    { pair: [false, "x"] },
  ];
  for (const name of Object.keys(real) as (keyof typeof real)[]) {
    const read = (schema: zod.ZodType) =>
      inputs.map((input) => {
        const { success, data, error } = schema.safeParse(input);
        return success ? data : error.issues;
      });
    expect(read(deferred[name]), name).toEqual(read(real[name]));
    expect(z.toJSONSchema(deferred[name]), name).toEqual(zod.toJSONSchema(real[name]));
  }
  const documents = [zod, z].map(({ registry, toJSONSchema }, i) => {
    const { Item, Either } = [real, deferred][i]!;
    const names = registry<{ id: string }>();
    names.add(Item, { id: "item" });
    names.add(Either, { id: "either" });
    expect([names.get(Item)?.id, names.has(Item), names.has(Item.shape.name)]).toEqual(["item", true, false]);
    return toJSONSchema(names);
  });
  expect(documents[1]).toEqual(documents[0]);
  expect(JSON.stringify(documents)).toContain('"$ref":"item"');
  expect(deferred.Item.shape.size).toBeInstanceOf(zod.ZodOptional);
  expect(deferred.Item).toBeInstanceOf(zod.ZodObject);
  expect(deferred.Item).not.toBeInstanceOf(zod.ZodArray);
  let isRead = false;
  const shape = {
    get late() {
      isRead = true;
      return z.string();
    },
  };
  const Late = z.object(shape).describe("late").optional();
  expect(isRead).toBe(false);
  expect(Late.safeParse({ late: "x" }).success).toBe(true);
});

it("evaluates the expression of a schema at its first use, and once", () => {
  let evaluated = 0;
  const Item: zod.ZodObject = lazily(() => {
    evaluated += 1;
    return z.strictObject({ name: z.string() });
  });
  const Sized: zod.ZodObject = lazily(() => Item.extend({ size: z.number().optional() }));
  expect(evaluated).toBe(0);
  const inputs = [{ name: "x" }, { name: "x", size: 1 }, { size: 1 }];
  expect(inputs.map((input) => Sized.safeParse(input).success)).toEqual([true, true, false]);
  expect(inputs.map((input) => Item.safeParse(input).success)).toEqual([true, false, false]);
  expect(evaluated).toBe(1);
});
