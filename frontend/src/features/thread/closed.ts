import { createStore } from "../../base/store";

/** The thread whose panel was closed; another one's opens. */
export const threadClosed = createStore<string | null>(null);
