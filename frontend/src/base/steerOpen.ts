import { createStore } from "../model/store";

/** Whether the Steer drawer is open. */
export const steerOpen = createStore(false);
