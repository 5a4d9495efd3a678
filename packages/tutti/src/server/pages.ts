// The few pages that the server writes itself.

const page = (title: string, sentence: string): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${title}</title></head>
<body><h1>${title}</h1><p>${sentence}</p></body>
</html>
`;

export const TOKEN_NEEDED_PAGE = page(
  "Tutti",
  "To open the dashboard, use the URL with the token that was printed when the server started.",
);

export const NOT_BUILT_PAGE = page(
  "Tutti",
  "The server is running, but the dashboard is not built; the API is under /api.",
);
