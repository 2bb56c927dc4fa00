// The words of releasing a message.
import { release } from './en/release'
import { shell } from './en/shell'
import { translator } from './translate'

export const t = translator({ ...shell, ...release })
