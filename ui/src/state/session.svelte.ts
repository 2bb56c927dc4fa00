// Signing in and coming back: the key goes to the server, which gives a cookie; the page keeps none.
import { Problem } from '../api/client'
import { ALL, href, listing, parse, type Route } from '../router'
import type { Navigation } from './navigation.svelte'
import type { ServerState } from './server.svelte'

export class Session {
  busy = $state(false)
  problem = $state.raw<Problem | null>(null)
  #nav: Navigation
  #server: ServerState

  constructor(nav: Navigation, server: ServerState) {
    this.#nav = nav
    this.#server = server
  }

  /** The server does not know this visitor: sign in, then back here. */
  missing(): void {
    const { route } = this.#nav
    if (route.view !== 'login' && route.view !== 'help') this.#nav.step({ view: 'login', next: this.#path(route) })
  }

  /** Signs in and goes on to where the visitor was. */
  async enter(key: string): Promise<void> {
    this.busy = true
    this.problem = null
    try {
      await this.#server.login(key.trim())
      const { route } = this.#nav
      this.#nav.step(route.view === 'login' ? this.#route(route.next) : { ...route })
    } catch (fault) {
      this.problem = fault instanceof Problem ? fault : new Problem(0, { type: 'network' })
      this.missing()
    } finally {
      this.busy = false
    }
  }

  #path(route: Route): string {
    return '/' + href(route, this.#nav.base).slice(this.#nav.base.length)
  }

  /** Whatever `next` says, it is a place of this page. */
  #route(next: string | null): Route {
    const place = 'http://page.invalid' + this.#nav.base
    const route = next?.startsWith('/') && URL.canParse(place + next.slice(1)) ? parse(new URL(place + next.slice(1)), this.#nav.base) : listing(ALL)
    return route.view === 'unknown' || route.view === 'login' ? listing(ALL) : route
  }
}

/** A key that came behind the `#` of a link, and the address without it; null when there is none. */
export function keyIn(address: string): { key: string; address: string } | null {
  const url = new URL(address)
  const key = new URLSearchParams(url.hash.slice(1)).get('key')
  if (!key) return null
  url.hash = ''
  return { key, address: url.href }
}
