// The words of what is fetched when it is asked for: entry, samples, help, palette, signing in.
import { card } from './en/card'
import { entry } from './en/entry'
import { field } from './en/field'
import { list } from './en/list'
import { shell } from './en/shell'
import { translator } from './translate'

export const t = translator({ ...shell, ...list, ...field, ...entry, ...card })
