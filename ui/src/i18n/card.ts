// The words of the card that stands in the place of a message.
import { card } from './en/card'
import { shell } from './en/shell'
import { translator } from './translate'

export const t = translator({ ...shell, ...card })
