import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatEtag, isFresh, matchEtag, type Precondition, parsePrecondition } from "../../lib/guard/etag.ts";

const current = formatEtag("u1", 7);
const ifMatch = (header: string | undefined, tag: string | undefined = current) => {
  const precondition: Precondition = parsePrecondition(header);
  return precondition.kind === "any" || precondition.kind === "tags" ? matchEtag(precondition, tag) : precondition.kind;
};

describe("entity tags", () => {
  test.each([
    ['"u1-7"', "match"],
    [' "u1-7" ', "match"],
    ['"u1-6", "u1-7"', "match"],
    ['"u1-6","u1-7",', "match"],
    ['"a,b", W/"u1-7", "u1-7"', "match"],
    ["*", "match"],
    ['W/"u1-7"', "weak"],
    ['W/"u1-7", "u1-6"', "weak"],
    ['w/"u1-7"', "malformed"],
    ['"u1-7-gzip"', "mismatch"],
    ['"u1-70"', "mismatch"],
    ['""', "mismatch"],
    ["u1-7", "malformed"],
    ['"u1-7', "malformed"],
    ['"u1-7" "u1-8"', "malformed"],
    ['"u1 7"', "malformed"],
    ['*, "u1-7"', "malformed"],
    ["", "malformed"],
    [",", "malformed"],
    [undefined, "missing"],
  ])("If-Match: %s is a %s (H1, H3)", (header, result) => {
    expect(ifMatch(header)).toBe(result);
  });

  test("nothing matches what does not exist, not even `*`", () => {
    const all: (string | undefined)[] = ["*", '"u1-7"'];
    for (const header of all) {
      const precondition = parsePrecondition(header) as Parameters<typeof matchEtag>[0];
      expect(matchEtag(precondition, undefined)).toBe("mismatch");
    }
  });

  test("any list of tags is read back as it was written", () => {
    const tag = fc.record({ opaque: fc.stringMatching(/^[!#-~]*$/), isWeak: fc.boolean() });
    const property = fc.property(fc.array(tag, { minLength: 1 }), fc.constantFrom(",", ", ", " ,\t"), (tags, comma) => {
      const header = tags.map(({ opaque, isWeak }) => `${isWeak ? "W/" : ""}"${opaque}"`).join(comma);
      expect(parsePrecondition(header)).toEqual({ kind: "tags", tags });
    });
    fc.assert(property);
  });

  test("any header at all is read without an exception", () => {
    fc.assert(fc.property(fc.string(), (header) => void parsePrecondition(header)));
  });

  test("for If-None-Match weak tags count", () => {
    expect(isFresh(parsePrecondition('W/"u1-7"'), current)).toBe(true);
    expect(isFresh(parsePrecondition("*"), current)).toBe(true);
    expect(isFresh(parsePrecondition('"u1-6"'), current)).toBe(false);
    expect(isFresh(parsePrecondition(undefined), current)).toBe(false);
  });

  test("a scope that would break the header is refused", () => {
    for (const scope of ["", 'a"b', "a b", "é"]) expect(() => formatEtag(scope, 1)).toThrow(RangeError);
  });
});
