/** What the space bar does on a page of its own kind, such as playing a run; null: pause what is live. */

import { createStore } from "../model/store";

export const spaceBar = createStore<(() => void) | null>(null);
