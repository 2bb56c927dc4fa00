// The field: what is typed, what it offers, and the search that runs by itself once typing rests. The list asks the server; going on
// to another search makes it let go of the last.
import { ALL, listing, mailbox, type Scope } from '../router'
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
  #resting: ReturnType<typeof setTimeout> | undefined
  /** Searches while typing are one step of the history. */
  #stepped = false

  constructor(nav: Navigation, server: ServerState, names: () => readonly string[] = () => []) {
    this.#nav = nav
    this.#server = server
    this.#names = names
  }

  get words(): Words {
    return this.#server.about?.search ?? { keys: [], has: [] }
  }

  get scope(): Scope {
    const { route } = this.#nav
    return route.view === 'mail' ? route.scope : ALL
  }

  get offers(): Suggestion[] {
    return suggestions(this.text, { words: this.words, mailboxes: this.#names(), scope: this.scope, seesAll: this.#server.seesAll })
  }

  /** The search on the screen. */
  get shown(): string {
    const { route } = this.#nav
    return route.view === 'mail' ? route.q : ''
  }

  typed(text: string): void {
    this.text = text
    clearTimeout(this.#resting)
    if (this.#runsItself()) this.#resting = setTimeout(() => this.#run(), REST)
  }

  /** The route moved: the field says what is searched for. */
  follow(): void {
    clearTimeout(this.#resting)
    this.text = this.shown
    this.#stepped = false
  }

  /** True when that ends the typing. */
  choose(offer: Suggestion): boolean {
    clearTimeout(this.#resting)
    if (offer.kind === 'word') {
      this.typed(offer.text)
      return false
    }
    const to = offer.kind === 'open' ? listing(mailbox(offer.mailbox)) : listing(offer.scope, offer.q)
    if (this.#stepped) this.#nav.step(to)
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
    if (this.#stepped || this.shown !== '') this.#nav.step(to)
    else this.#nav.go(to)
    this.#stepped = true
  }
}
