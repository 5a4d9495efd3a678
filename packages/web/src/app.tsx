import { useRoute } from "./shell/route.ts";
import { RunListPage } from "./list/run-list-page.tsx";
import { RunPage } from "./run/run-page.tsx";
import { NotFoundPage } from "./shell/not-found-page.tsx";

export function App() {
  const route = useRoute();
  switch (route.view) {
    case "list":
      return <RunListPage />;
    case "run":
      return <RunPage key={route.id} id={route.id} opened={route.session} />;
    case "unknown":
      return <NotFoundPage />;
  }
}
