/** One fault of a definition: where, and what to do about it. */
export interface DefinitionFault {
  /** `nodes[3].input.orderId`, or empty for the definition as a whole. */
  readonly path: string;
  readonly message: string;
}

/** A place in a definition under validation: it knows its path, and collects what is wrong there. */
export interface Place {
  readonly path: string;
  fault(message: string): void;
  at(key: string | number): Place;
}

/** The place of a whole definition; faults anywhere in it end up in `faults`. */
export function placeOf(faults: DefinitionFault[], path = ""): Place {
  return {
    path,
    fault: (message) => faults.push({ path, message }),
    at: (key) => placeOf(faults, typeof key === "number" ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`),
  };
}
