/**
 * Where steps, signals, calls and workflows keep what only the package needs. Registered, so that two copies of the package see
 * the same.
 */
export const inside: unique symbol = Symbol.for("tickwright.inside");
