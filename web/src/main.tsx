import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "@xyflow/react/dist/style.css";

import { Refused } from "./api/problem.ts";
import { App } from "./App.tsx";
import "./style/colours.css";
import "./style/page.css";
import "./style/run.css";
import "./style/graph.css";
import { applyTheme, chosenTheme } from "./theme.ts";

applyTheme(chosenTheme());
const client = new QueryClient({
  defaultOptions: { queries: { retry: (count, error) => count < 2 && !(error instanceof Refused), refetchOnWindowFocus: false } },
});
const place = document.getElementById("page");
if (place) {
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
}
