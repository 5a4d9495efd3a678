// The routes of templates: decode, one call of the library, encode.
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { Hono, type Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { z } from "zod";
import { readBody, readQuery, type Bindings } from "./decode.ts";
import { encodeError } from "./encode-error.ts";
import { mustBeHarmless } from "./harmless-template.ts";
import { TuttiError } from "../schema/error.ts";
import type { Destination, TemplateLibrary } from "../template/library.ts";
import { parseTemplate } from "../template/read-file.ts";

const absolute = z.string().refine(isAbsolute, "an absolute path");
/** The folder of a project whose own templates are meant too. */
const ProjectQuery = z.object({ project: absolute.optional() });
const bit = z.enum(["0", "1"]);
/** Rows by default, which also tell what cannot be used; with `full` the whole templates that can. */
const ListQuery = z.object({ full: bit.default("0") });
const OneQuery = z.object({ resolved: bit.default("1"), provenance: bit.default("0"), project: absolute.optional() });

const TemplateBody = z.record(z.string(), z.unknown());
const DuplicateBody = z.strictObject({ newName: z.string().refine((name) => name.trim() !== "", "a name") });
const PreviewBody = z.strictObject({ variables: z.record(z.string(), z.unknown()).default({}) }).prefault({});
/** A template, or the text of a file that holds one. */
const ImportBody = z.union([TemplateBody, z.string()]);
/** Whether it is a template at all is what is asked. */
const AnyBody = z.unknown().refine((value) => value !== undefined, "a template");

/** `harmlessOnly` for servers beyond loopback, where a request may not bring programs along, also not in a template. */
export function templateRoutes(templates: TemplateLibrary, harmlessOnly: boolean): Hono<Bindings> {
  const routes = new Hono<Bindings>();
  const checked = <T>(template: T): T => (harmlessOnly ? mustBeHarmless(template) : template);

  // Here the address names a template that is not there; elsewhere a request asks for the impossible.
  routes.onError((error, c) => {
    const { status, body } = encodeError(error);
    return c.json(body, (body.error.code === "template_not_found" ? 404 : status) as ContentfulStatusCode);
  });

  routes.get("/", (c) => {
    const { full } = readQuery(c, ListQuery);
    const project = projectOf(c);
    const rows = templates.list(project);
    if (full === "0") return c.json(rows);
    return c.json(rows.flatMap(({ id, valid }) => (valid ? [templates.resolve(id, project).template] : [])));
  });

  routes.post("/", async (c) => {
    const project = projectOf(c);
    const body = checked(await readBody(c, TemplateBody));
    return c.json(templates.create(withId(templates, body, project), destination(project)).template, 201);
  });

  routes.post("/import", async (c) => {
    const project = projectOf(c);
    const body = await readBody(c, ImportBody);
    const template = checked(typeof body === "string" ? parseTemplate(body) : body);
    return c.json(templates.importTemplate(template, destination(project)).template, 201);
  });

  routes.post("/validate", async (c) => {
    const project = projectOf(c);
    return c.json(templates.validate(await readBody(c, AnyBody), project));
  });

  routes.get("/:id", (c) => {
    const id = c.req.param("id");
    const { resolved, provenance } = readQuery(c, OneQuery);
    const project = projectOf(c);
    if (resolved === "0") return c.json(templates.raw(id, project));
    const { template, provenance: origins, chain, warnings } = templates.resolve(id, project);
    return c.json(provenance === "0" ? template : { template, provenance: origins, chain, warnings });
  });

  routes.put("/:id", async (c) => {
    const project = projectOf(c);
    const patch = checked(await readBody(c, TemplateBody));
    return c.json(templates.update(c.req.param("id"), patch, project).template);
  });

  routes.delete("/:id", (c) => {
    templates.delete(c.req.param("id"), projectOf(c));
    return c.json({ success: true });
  });

  routes.post("/:id/duplicate", async (c) => {
    const project = projectOf(c);
    const { newName } = await readBody(c, DuplicateBody);
    return c.json(templates.duplicate(c.req.param("id"), newName, project).template, 201);
  });

  routes.get("/:id/export", (c) => {
    const id = c.req.param("id");
    const text = templates.exportTemplate(id, projectOf(c));
    // The library knows the template, so its id is plain enough for a file's name.
    const headers = { "Content-Disposition": `attachment; filename="${id}.json"` };
    return c.body(text, 200, { "Content-Type": "application/json; charset=UTF-8", ...headers });
  });

  routes.post("/:id/preview", async (c) => {
    const project = projectOf(c);
    const { variables } = await readBody(c, PreviewBody);
    return c.json(templates.preview(c.req.param("id"), variables, project));
  });

  return routes;
}

function projectOf(c: Context<Bindings>): string | undefined {
  const { project } = readQuery(c, ProjectQuery);
  if (project === undefined || existsSync(project)) return project;
  throw new TuttiError("folder_not_found", `there is no folder ${project}`);
}

const destination = (project: string | undefined): Destination =>
  project === undefined ? {} : { place: "project", project };

/** Without an id it gets one that is made from its name. */
function withId(templates: TemplateLibrary, body: Record<string, unknown>, project: string | undefined): unknown {
  const { id, name } = body;
  return id === undefined && typeof name === "string" ? { id: templates.generateId(name, project), ...body } : body;
}
