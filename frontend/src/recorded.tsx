/** Entry of the page that shows one recorded run from files beside it: `make demo-site`. */

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RecordedApp } from "./app/RecordedApp";
import { lookAtFiles } from "./base/session";
import { readFilesBelow } from "./base/source";
import * as theme from "./base/theme";
import { RunClientsContext } from "./stream/client";
import { createRunClient } from "./stream/workerClient";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/print.css";

theme.apply();
readFilesBelow("data/");
lookAtFiles();
const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <RunClientsContext value={createRunClient}>
        <RecordedApp run={import.meta.env.VITE_RUN} home={import.meta.env.VITE_HOME} />
      </RunClientsContext>
    </StrictMode>,
  );
}
