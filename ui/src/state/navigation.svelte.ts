// Where the page is: the one route that everything shown follows from. The window is handed in, so tests need none.
import { href, parse, type Route } from '../router'

/** The part of a window that navigation needs. */
export interface Place {
  href(): string
  push(url: string): void
  replace(url: string): void
  /** What is remembered with the address, until Back comes to it. */
  kept?(): unknown
  keep?(value: unknown): void
}

export class Navigation {
  readonly base: string
  route: Route = $state.raw({ view: 'unknown', path: '/' })
  /** What was remembered with the address that Back or a reload came to. */
  kept: unknown = null
  /** What is to be remembered with the address that is left. */
  memory: () => unknown = () => null
  #place: Place

  constructor(place: Place, base: string) {
    this.#place = place
    this.base = base
    this.arrived()
  }

  /** The window moved by itself: Back, Forward. */
  arrived(): void {
    this.kept = this.#place.kept?.() ?? null
    this.route = parse(new URL(this.#place.href()), this.base)
  }

  /** A click: Back leads here again. */
  go(route: Route): void {
    this.remember()
    this.#place.push(href(route, this.base))
    this.route = route
  }

  remember(): void {
    this.#place.keep?.(this.memory())
    this.kept = null
  }

  /** A step within the same view, by j and k for instance: Back leads past it. */
  step(route: Route): void {
    this.#place.replace(href(route, this.base))
    this.route = route
  }

  url(route: Route): string {
    return href(route, this.base)
  }

  /** To hand to others: with the host. */
  lasting(route: Route): string {
    return new URL(this.url(route), this.#place.href()).href
  }
}
