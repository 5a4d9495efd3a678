import "./shell/no-eval.ts";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { takeAddressFromHash } from "./shell/route.ts";
import "@xyflow/react/dist/base.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/list.css";
import "./styles/run.css";
import "./styles/graph.css";
import "./styles/workers.css";
import "./styles/result.css";
import "./styles/transcript.css";

takeAddressFromHash();
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
