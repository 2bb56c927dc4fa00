// The words of the page by typed key, and how times, numbers and sizes are written. Knows no state.
import { entry } from './en/entry'
import { list } from './en/list'
import { message } from './en/message'
import { shell } from './en/shell'
import { stretched } from './pseudo'

const texts = { ...shell, ...list, ...message, ...entry }
export type Key = keyof typeof texts
type Values<K extends Key> = (typeof texts)[K] extends (...values: infer V) => string ? V : []

/** A longer language for tests: words that do not fit are seen before a translator meets them. */
const pseudo = typeof localStorage !== 'undefined' && localStorage.getItem('postkeep.language') === 'pseudo'

export function t<K extends Key>(key: K, ...values: Values<K>): string {
  const text = texts[key] as string | ((...values: unknown[]) => string)
  const said = typeof text === 'string' ? text : text(...values)
  return pseudo ? stretched(said) : said
}
