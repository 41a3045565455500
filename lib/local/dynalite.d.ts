declare module "dynalite" {
  import type { Server } from "node:http";

  /** Times in milliseconds that a table stays in its transitional states. */
  export default function dynalite(options: {
    readonly path?: string;
    readonly createTableMs?: number;
    readonly updateTableMs?: number;
    readonly deleteTableMs?: number;
  }): Server;
}
