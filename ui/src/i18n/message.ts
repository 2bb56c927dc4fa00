// The words of an open message.
import { message } from './en/message'
import { shell } from './en/shell'
import { translator } from './translate'

const texts = { ...shell, ...message }
export type Key = keyof typeof texts
export const t = translator(texts)
