// Hostile text as data, in its families: what a sender could put where, so that it would run, load, leave or mislead.
// Each carries a number: if it runs, the console says `pwned-N`. Nothing here knows the page.
import { clicked, clobbering, events, mutations, scripts } from './payloads/markup'
import { encodings, fields, linkified } from './payloads/fields'
import { parts } from './payloads/parts'
import { remote } from './payloads/remote'
import { addresses } from './payloads/addresses'

/** Where it goes in a mail. */
export type Place = 'html' | 'text' | 'field' | 'part'

export interface Payload {
  number: number
  threat: string
  place: Place
  value: string
  /** It swallows what follows it, so it comes last in its mail. */
  greedy: boolean
  /** Its links and buttons are pressed; none of them leads to a host, so nothing may come of it. */
  click: boolean
  /** Of a part. */
  type?: string
  name?: string
}

/** What payloads are written with: `run` is code without quotes, `at` a place on the canary's server. */
export interface Ink {
  run: string
  at: (file: string) => string
}
export type Seed = (ink: Ink) => string

interface Family {
  threat: string
  place: Place
  seeds: Seed[]
  click?: boolean
}

const families: Family[] = [
  { threat: 'T038', place: 'html', seeds: scripts }, { threat: 'T038', place: 'html', seeds: events }, { threat: 'T043', place: 'html', seeds: mutations },
  { threat: 'T046', place: 'html', seeds: remote }, { threat: 'T048', place: 'html', seeds: clicked, click: true }, { threat: 'T038', place: 'html', seeds: addresses, click: true },
  { threat: 'T049', place: 'html', seeds: clobbering }, { threat: 'T043', place: 'html', seeds: encodings },
  { threat: 'T050', place: 'field', seeds: fields }, { threat: 'T051', place: 'text', seeds: linkified },
]

const GREEDY = /<(plaintext|xmp|noembed|noframes|textarea|title|style|frameset|template|select|option|table|iframe|object|embed|svg|math|script|!--)(?![^]*<\/\1>)|<!--(?![^]*-->)|<[^>]*$/i

/** All of them, for a canary at this address; the same each time. */
export function payloads(canary: string): Payload[] {
  let number = 0
  const ink = (): Ink => {
    const own = ++number
    return { run: `console.log(/pwned-${own}/.source)`, at: (file) => `${canary}/p${own}/${file}` }
  }
  const made = families.flatMap(({ threat, place, seeds, click = false }) =>
    seeds.map((seed): Payload => {
      const value = seed(ink())
      return { number, threat, place, value, click, greedy: GREEDY.test(value) }
    }),
  )
  const files = parts.map(({ type, name, data }): Payload => {
    const value = data(ink())
    return { number, threat: 'T040', place: 'part', value, click: false, greedy: false, type, name }
  })
  return [...made, ...files]
}

/** An even choice of so many, from every family. */
export function some(all: Payload[], count: number): Payload[] {
  if (count >= all.length) return all
  return Array.from({ length: count }, (_, n) => all[Math.floor((n * all.length) / count)]).filter((one) => one !== undefined)
}
