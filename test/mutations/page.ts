import { mutations } from "./table.ts";

const begin = "<!-- the named list: written by `npm run mutate -- --named --write` -->";
const end = "<!-- end of the named list -->";

/** The page with what was measured now, and the rest as it was last measured: each rule, and the test that caught its loss. */
export function withNamed(page: string, caughtBy: ReadonlyMap<string, readonly string[]>): string {
  const known = new Map(namedOn(page).map((cells) => [cells[0], `| ${cells.join(" | ")} |`]));
  const rows = mutations.flatMap(({ id, rule, file, test }) => {
    if (!caughtBy.has(id)) return known.get(id) ?? [];
    const [by = "", ...more] = caughtBy.get(id) ?? [];
    const others = more.length > 0 ? ` and ${more.length} more` : "";
    return `| ${id} | ${rule} | \`${file}\` | \`${test.file.replace(/^test\/|\.test\.ts$/g, "")}\` *${by.replaceAll("|", "\\|")}*${others} |`;
  });
  const table = ["| id | the rule that is taken out | of | caught by |", "|---|---|---|---|", ...rows].join("\n");
  const [before = "", rest = ""] = page.split(begin);
  const [, after = ""] = rest.split(end);
  return `${before}${begin}\n\n${table}\n\n${end}${after}`;
}

/** The rows of the named list on the page, cell by cell. */
export function namedOn(page: string): readonly (readonly string[])[] {
  const [, rest = ""] = page.split(begin);
  const [inside = ""] = rest.split(end);
  return inside
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| id "))
    .map((line) => line.slice(2, -2).split(" | "));
}
