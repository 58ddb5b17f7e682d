import { createStore } from "../../base/store";

/** Whether the Steer drawer is open. */
export const drawerOpen = createStore(false);
