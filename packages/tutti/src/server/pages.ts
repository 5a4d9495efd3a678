// HTML pages that the server renders itself, for a browser without a token or without a built dashboard.

const page = (title: string, sentence: string): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${title}</title></head>
<body><h1>${title}</h1><p>${sentence}</p></body>
</html>
`;

export const TOKEN_NEEDED_PAGE = page(
  "Tutti",
  "To open the dashboard, use the URL with the token that the server printed when it started.",
);

export const NOT_BUILT_PAGE = page(
  "Tutti",
  "The server is running, but the dashboard is not built. The API is under /api.",
);
