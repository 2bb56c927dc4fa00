// The field: what is typed, what it offers, and the search that runs by itself once typing rests. The list asks the server; going on
// to another search makes it let go of the last.
import type { Problem } from '../api/client'
import { ALL, listing, mailbox, type Route, type Scope } from '../router'
import type { Navigation } from './navigation.svelte'
import type { ServerState } from './server.svelte'
import { searchesFirst, suggestions, type Suggestion } from './suggestions'
import { isFinished, type Words } from './terms'

/** Of rest, before a search runs. */
const REST = 250

export class Finding {
  text = $state('')
  #nav: Navigation
  #server: ServerState
  #names: () => readonly string[]
  #problem: () => Problem | null
  #resting: ReturnType<typeof setTimeout> | undefined
  /** Where typing led; such searches are one step of the history. */
  #led: Route | null = null

  constructor(nav: Navigation, server: ServerState, names: () => readonly string[] = () => [], problem: () => Problem | null = () => null) {
    this.#nav = nav
    this.#server = server
    this.#names = names
    this.#problem = problem
  }

  get words(): Words {
    return this.#server.about?.search ?? { keys: [], has: [] }
  }

  /** Mailboxes that the visitor may mean. */
  get names(): readonly string[] {
    return this.#names()
  }

  get scope(): Scope {
    const { route } = this.#nav
    return route.view === 'mail' ? route.scope : ALL
  }

  get offers(): Suggestion[] {
    return suggestions(this.text, { words: this.words, mailboxes: this.names, scope: this.scope, seesAll: this.#server.seesAll })
  }

  /** The search on the screen. */
  get shown(): string {
    const { route } = this.#nav
    return route.view === 'mail' ? route.q : ''
  }

  /** The server could not read the search on the screen. */
  get isBad(): boolean {
    return this.#problem()?.slug === 'bad-query'
  }

  typed(text: string): void {
    this.text = text
    clearTimeout(this.#resting)
    if (this.#runsItself()) this.#resting = setTimeout(() => this.#run(), REST)
  }

  /** The route moved: unless typing moved it, the field says what is searched for. */
  follow(): void {
    if (this.#nav.route === this.#led) return
    clearTimeout(this.#resting)
    this.text = this.shown
    this.#led = null
  }

  /** True when that ends the typing. */
  choose(offer: Suggestion): boolean {
    clearTimeout(this.#resting)
    if (offer.kind === 'word') {
      this.typed(offer.text)
      return false
    }
    const to = offer.kind === 'open' ? listing(mailbox(offer.mailbox)) : listing(offer.scope, offer.q)
    if (this.#led) this.#nav.step(to)
    else this.#nav.go(to)
    this.follow()
    return true
  }

  #runsItself(): boolean {
    const { offers } = this
    const isSearch = searchesFirst(this.text) ? offers[0]?.kind === 'search' : this.shown !== ''
    return isSearch && isFinished(this.text)
  }

  #run(): void {
    const q = this.text.trim()
    if (q === this.shown) return
    const to = listing(this.scope, q)
    if (this.#led || this.shown !== '') this.#nav.step(to)
    else this.#nav.go(to)
    this.#led = to
  }
}
