// Words by typed key. Each part of the page brings its own, so that what is fetched later brings its words along.
import { stretched } from './pseudo'

type Text = string | ((...values: never[]) => string)
type Values<T> = T extends (...values: infer V) => string ? V : []

/** A longer language for tests: words that do not fit are seen before a translator meets them. */
const pseudo = typeof localStorage !== 'undefined' && localStorage.getItem('postkeep.language') === 'pseudo'

export function translator<T extends Record<string, Text>>(texts: T) {
  return <K extends keyof T>(key: K, ...values: Values<T[K]>): string => {
    const text = texts[key] as string | ((...values: unknown[]) => string)
    const said = typeof text === 'string' ? text : text(...values)
    return pseudo ? stretched(said) : said
  }
}
