// Words of the list.
export const list = {}
