// The words of the first screen. Those of the message and of the panes beside the mail come with them.
import { field } from './en/field'
import { list } from './en/list'
import { shell } from './en/shell'
import { translator } from './translate'

export const t = translator({ ...shell, ...list, ...field })
