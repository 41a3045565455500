import { renamed, unchanging } from "./first.ts";
import { changed } from "./second.ts";

/** The step has its old name again. */
export const workflows = [...unchanging, changed, renamed];
