import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { LiveClientContext } from "./base/liveClient";
import * as theme from "./base/theme";
import { createLiveClient } from "./live/client";
import "./styles/tokens.css";
import "./styles/base.css";

theme.apply();
const client = createLiveClient();
const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <LiveClientContext value={client}>
        <App />
      </LiveClientContext>
    </StrictMode>,
  );
}
