// Words of the entry.
export const entry = {}
