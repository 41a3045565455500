import type { Fields, Key } from "../../lib/ports.ts";
import { fromJson, toJson } from "./stored.ts";
import { shapeOf, toTheEnd, toTheMiddle, troubles, workloadWorld } from "./workload.ts";

/** Every shape in which a kind of record, or of message, was ever stored. */
export type Shapes = { readonly [kind: string]: { readonly [attribute: string]: readonly string[] } };

/** A store as it stood in the middle of things, and what somebody outside holds of it. */
export interface Middle {
  readonly atMs: number;
  readonly token: string;
  readonly records: readonly (Key & { readonly fields: Fields })[];
}

/** A record's kind: by its sort key without what is another in each run, an attempt's by its outcome too. */
function kindOf({ pk, sk }: Key, fields: Fields): string {
  if (pk.startsWith("#") && !pk.startsWith("#DEF#")) return pk;
  const [first = "", second = "", third = ""] = sk.split("#");
  if (first === "ATT") return fields["v"] === undefined ? "ATT open" : `ATT ${String(fields["v"])}`;
  if (first === "STATE" && second !== "") return `STATE#${second}`;
  return first === "OUT" && third.length === 1 ? `OUT#${third}` : first;
}

/** Runs the workload and everything that can go wrong with it, and notes what is stored and sent in which shape. */
export async function shapesNow(): Promise<Shapes> {
  const shapes = new Map<string, Map<string, Set<string>>>();
  const note = (kind: string, fields: Fields) => {
    const known = shapes.get(kind) ?? new Map<string, Set<string>>();
    shapes.set(kind, known);
    for (const [name, type] of Object.entries(shapeOf(fields)))
      known.set(name, (known.get(name) ?? new Set()).add(type));
  };
  const { world, tokens } = workloadWorld((key, record) => {
    if (record) note(kindOf(key, record), record);
  });
  const { send } = world.queue;
  world.withEngine({
    queue: {
      isBehind: world.queue.isBehind,
      send: async (messages) => {
        for (const each of messages) note(`message to ${each.queue.split(":")[0]}`, JSON.parse(each.body));
        return await send(messages);
      },
    },
  });
  await toTheMiddle(world);
  await toTheEnd(world, tokens[0] ?? "");
  await troubles(world);
  return sorted(shapes, (attributes) => sorted(attributes, (types) => [...types].sort()));
}

const sorted = <T, U>(map: ReadonlyMap<string, T>, to: (value: T) => U): { readonly [name: string]: U } =>
  Object.fromEntries([...map.keys()].sort().map((name) => [name, to(map.get(name) as T)]));

/** The store with everything in flight. What is beside it, in S3, is named by what it holds. */
export async function middleNow(): Promise<Middle> {
  const { world, tokens } = workloadWorld();
  await toTheMiddle(world);
  const records = world.store.snapshot().map(({ pk, sk, ...fields }) => ({ pk, sk, fields: fields as Fields }));
  return { atMs: world.clock.nowMs(), token: tokens[0] ?? "", records };
}

export const middleText = (middle: Middle): string =>
  JSON.stringify({ ...middle, records: middle.records.map((each) => ({ ...each, fields: toJson(each.fields) })) });

export function middleFrom(text: string): Middle {
  const middle = JSON.parse(text) as Middle;
  return {
    ...middle,
    records: middle.records.map((each) => ({ ...each, fields: fromJson(each.fields) as Fields })),
  };
}
