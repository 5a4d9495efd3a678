// Takes the place of zod in a build. Zod builds a schema when its expression is evaluated. That would take most of the
// start of a command, which uses few of the schemas that its modules declare. Here the expression is only noted, and zod
// builds the schema when something uses it. A schema that was built contains no deferred ones.
import * as zod from "zod";

export * from "zod";
// oxlint-disable-next-line import/no-self-import -- The sources import `z`, a namespace with the names below.
export * as z from "./deferred-zod.mjs";

/** The methods that make another schema from one. Their arguments may be deferred. */
export const METHODS = new Set(
  [
    "and array brand catch check default describe endsWith exactOptional extend gt gte int length loose lt lte max meta min",
    "multipleOf negative nonempty nonnegative nonoptional nonpositive normalize nullable nullish omit optional or overwrite",
    "partial passthrough pick pipe positive prefault readonly refine regex required safeExtend startsWith strict strip",
    "superRefine toLowerCase transform trim",
  ].flatMap((names) => names.split(" ")),
);

/**
 * Builds a deferred schema.
 *
 * @type {WeakMap<object, () => any>}
 */
const builders = new WeakMap();

/**
 * Replaces deferred schemas in an argument of a factory or a method: itself, a member of a shape or an item of a list.
 *
 * @param {any} argument
 * @param {number} depth
 * @returns {any}
 */
function build(argument, depth = 1) {
  if (typeof argument !== "object" || argument === null) return argument;
  const builder = builders.get(argument);
  if (builder) return builder();
  if (depth === 0) return argument;
  if (Array.isArray(argument)) return argument.map((item) => build(item, 0));
  if (Object.getPrototypeOf(argument) !== Object.prototype) return argument;
  return Object.fromEntries(Object.entries(argument).map(([name, member]) => [name, build(member, 0)]));
}

/** Above 0 while a schema is built. Its parts are built at once then, because they are needed. */
let depth = 0;

/** @param {() => any} make */
function defer(make) {
  if (depth > 0) return make();
  /** @type {any} */
  let schema;
  const built = () => {
    if (schema) return schema;
    depth += 1;
    try {
      return (schema = make());
    } finally {
      depth -= 1;
    }
  };
  const handle = new Proxy(Object.create(null), {
    get(_, name) {
      if (METHODS.has(/** @type {string} */ (name)))
        return (/** @type {any[]} */ ...args) => defer(() => built()[name](...args.map((each) => build(each))));
      // The argument is evaluated before the schema is built: often it is a file that does not exist.
      if (name === "parse" || name === "safeParse") return (/** @type {any[]} */ ...args) => built()[name](...args);
      return built()[name];
    },
    has: (_, name) => name in built(),
    getPrototypeOf: () => Reflect.getPrototypeOf(built()),
  });
  builders.set(handle, built);
  return handle;
}

/**
 * The build passes the expressions of schemas to it (`deferSchemas` in `bundle-program.mjs`), so that their evaluation, and
 * the loading of modules that they name, waits for the first use.
 *
 * @param {() => any} make
 */
export const lazily = (make) => defer(() => build(make(), 0));

/** @param {() => (...args: any[]) => any} factory The parameter is a function, so that only its call loads zod. */
const deferred =
  (factory) =>
  (/** @type {any[]} */ ...args) =>
    defer(() => factory()(...args.map((each) => build(each))));

export const array = /* @__PURE__ */ deferred(() => zod.array);
export const int = /* @__PURE__ */ deferred(() => zod.int);
export const iso = /** @type {typeof zod.iso} */ (
  /** @type {unknown} */ ({ datetime: /* @__PURE__ */ deferred(() => zod.iso.datetime) })
);
export const boolean = /* @__PURE__ */ deferred(() => zod.boolean);
export const discriminatedUnion = /* @__PURE__ */ deferred(() => zod.discriminatedUnion);
export const literal = /* @__PURE__ */ deferred(() => zod.literal);
export const looseObject = /* @__PURE__ */ deferred(() => zod.looseObject);
export const number = /* @__PURE__ */ deferred(() => zod.number);
export const object = /* @__PURE__ */ deferred(() => zod.object);
export const record = /* @__PURE__ */ deferred(() => zod.record);
export const strictObject = /* @__PURE__ */ deferred(() => zod.strictObject);
export const string = /* @__PURE__ */ deferred(() => zod.string);
export const tuple = /* @__PURE__ */ deferred(() => zod.tuple);
export const union = /* @__PURE__ */ deferred(() => zod.union);
export const unknown = /* @__PURE__ */ deferred(() => zod.unknown);
const enumOf = /* @__PURE__ */ deferred(() => zod.enum);
const nullOf = /* @__PURE__ */ deferred(() => zod.null);
export { enumOf as enum, nullOf as null };

export const toJSONSchema = /** @type {typeof zod.toJSONSchema} */ (
  (/** @type {any} */ schema, /** @type {any} */ options) =>
    /** @type {any} */ (zod.toJSONSchema(build(schema, 0), options))
);

/** @type {typeof zod.registry} */
export const registry = () => {
  /** @type {any} */
  const made = zod.registry();
  for (const name of ["add", "get", "has", "remove"]) {
    const method = made[name].bind(made);
    made[name] = (/** @type {any} */ schema, /** @type {any[]} */ ...meta) => method(build(schema, 0), ...meta);
  }
  return made;
};
