/** A function's entry of somebody's own. */
export const handler = async () => undefined;
