// `docsPage` is plain HTML without a script: the content security policy blocks external ones.
import type { Description, Operation } from "./describe-api.ts";

export function docsPage({ info, paths, components }: Description): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const tags = [...new Set(operations.flatMap(({ operation }) => operation.tags))];
  const sections = tags.map((tag) => {
    const routes = operations.filter(({ operation }) => operation.tags.includes(tag));
    return `<h2 id="${tag}">${tag}</h2>\n${routes.map(routeSection).join("\n")}`;
  });
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `<h3 id="schema-${escape(name)}">${escape(name)}</h3>\n${code(schema)}`,
  );
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escape(info.title)} API ${escape(info.version)}</title></head>
<body>
<h1>${escape(info.title)} API ${escape(info.version)}</h1>
<p>${escape(info.description)}</p>
<p>For programs: <a href="/api/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
<nav><ul>${tags.map((tag) => `<li><a href="#${tag}">${tag}</a></li>`).join("")}<li><a href="#schemas">schemas</a></li></ul></nav>
<main>
${sections.join("\n")}
<h2 id="schemas">schemas</h2>
${schemas.join("\n")}
</main>
</body>
</html>
`;
}

function routeSection(route: { method: string; path: string; operation: Operation }): string {
  const { method, path, operation } = route;
  const { operationId, summary, parameters, requestBody, responses, security } = operation;
  const [role] = Object.values(security[0] ?? {}).flat();
  return `<section id="${operationId}">
<h3><code>${method} ${escape(path)}</code></h3>
<p>${escape(summary)} ${role === undefined ? "No token needed." : `Role: ${role}.`}</p>
${parameters.length === 0 ? "" : parameterTable(parameters)}
${requestBody ? details(`Body${requestBody.required ? "" : " (optional)"}`, requestBody.content) : ""}
${Object.entries(responses)
  .map(([status, { description, content = {} }]) =>
    status.startsWith("2") ? details(status, content) : `<p>${status}: ${escape(description)}</p>`,
  )
  .join("\n")}
</section>`;
}

function parameterTable(parameters: Operation["parameters"]): string {
  const rows = parameters.map(
    ({ name, in: place, required, description = "", schema }) =>
      `<tr><td><code>${escape(name)}</code></td><td>${place}${required ? ", required" : ""}</td>` +
      `<td>${escape(description)}</td><td><code>${escape(JSON.stringify(schema))}</code></td></tr>`,
  );
  return `<table>\n${rows.join("\n")}\n</table>`;
}

function details(title: string, content: Record<string, { schema: unknown }>): string {
  const parts = Object.entries(content).map(([type, { schema }]) => `<p>${escape(type)}</p>\n${code(schema)}`);
  return `<details><summary>${escape(title)}</summary>\n${parts.join("\n")}\n</details>`;
}

function code(schema: unknown): string {
  const text = escape(JSON.stringify(schema, null, 2));
  const linked = text.replaceAll(/#\/components\/schemas\/(\w+)/g, '<a href="#schema-$1">$1</a>');
  return `<pre>${linked}</pre>`;
}

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
