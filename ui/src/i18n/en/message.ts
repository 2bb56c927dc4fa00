// Words of the message.
export const message = {}
