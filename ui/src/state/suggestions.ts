// What the field offers for what is typed: mailboxes to open, searches to run, words of the language to put in. Pure.
import { ALL, type Scope } from '../router'
import { isFinished, terms, type Words } from './terms'

export type Suggestion =
  | { kind: 'open'; mailbox: string }
  | { kind: 'search'; q: string; scope: Scope }
  /** `text` is the whole field with the word put in. */
  | { kind: 'word'; word: string; text: string }

export interface Known {
  words: Words
  /** Names of mailboxes to complete. */
  mailboxes: readonly string[]
  /** The list on the screen, which is searched first. */
  scope: Scope
  /** Mail of all mailboxes can be searched. */
  seesAll: boolean
}

const WORDS_MAX = 8
const NAMES_MAX = 5

/** The first is what Enter does. */
export function suggestions(typed: string, known: Known): Suggestion[] {
  const text = typed.trim()
  if (text === '') return []
  const searches = scopes(known).map((scope): Suggestion => ({ kind: 'search', q: text, scope }))
  const open: Suggestion[] = isQuery(text, known.words) ? [] : [{ kind: 'open', mailbox: text }]
  const names = known.mailboxes.filter((name) => name !== text && name.toLowerCase().startsWith(text.toLowerCase())).slice(0, NAMES_MAX)
  const others = names.map((name): Suggestion => ({ kind: 'open', mailbox: name }))
  const words = searches.length ? completions(typed, known.words) : []
  // Half a term cannot be searched for, so what completes it comes first.
  if (!isFinished(typed) && words.length) return [...words, ...searches]
  return searchesFirst(text) ? [...searches, ...words, ...open, ...others] : [...open, ...searches, ...others, ...words]
}

/** A blank or a colon: more likely words to look for than a name. */
export const searchesFirst = (text: string): boolean => /[\s:"]/.test(text.trim())

function scopes({ scope, seesAll }: Known): Scope[] {
  const all = seesAll ? [ALL] : []
  return scope.kind === 'mailbox' ? [scope, ...all] : all
}

/** No mailbox is called `from:ben`. */
const isQuery = (text: string, words: Words): boolean => terms(text).some(({ key, open }) => open || (key !== null && words.keys.includes(key)))

function completions(typed: string, words: Words): Suggestion[] {
  const term = terms(typed).at(-1)
  if (!term || term.end !== typed.length || term.open) return []
  const put = (word: string, from: number): Suggestion => ({ kind: 'word', word, text: typed.slice(0, from) + word })
  if (term.key === 'has') {
    const begun = term.value.toLowerCase()
    return words.has.filter((thing) => thing.startsWith(begun) && thing !== begun).slice(0, WORDS_MAX).map((thing) => put(`has:${thing}`, term.at - 4))
  }
  const begun = term.value.toLowerCase()
  if (term.key !== null || !/^[a-z]+$/.test(begun)) return []
  return words.keys.filter((key) => key.startsWith(begun)).slice(0, WORDS_MAX).map((key) => put(`${key}:`, term.at))
}
