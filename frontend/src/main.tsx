import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { signInFromAddress } from "./api/session";
import { App } from "./app/App";
import * as theme from "./base/theme";
import { LiveClientContext, RunClientsContext } from "./stream/client";
import { createLiveClient, createRunClient } from "./stream/workerClient";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/print.css";

theme.apply();
void signInFromAddress();
window.addEventListener("hashchange", () => void signInFromAddress());
const client = createLiveClient();
const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <LiveClientContext value={client}>
        <RunClientsContext value={createRunClient}>
          <App />
        </RunClientsContext>
      </LiveClientContext>
    </StrictMode>,
  );
}
