// What this browser's user prefers. Kept in localStorage when there is one; applying it to the document is App's.

export interface Prefs {
  theme: 'system' | 'light' | 'dark'
  density: 'comfortable' | 'compact'
  /** Single-key shortcuts. */
  keys: boolean
  notifications: boolean
  /** Width of the list, px. */
  list: number
  /** Remote content of every mail is loaded. */
  remote: boolean
  /** Width of the HTML preview, 0 for all there is. */
  width: number
  /** How the HTML preview is lit. */
  paper: 'light' | 'dark'
  /** Of the samples. */
  sample: string
}

const DEFAULTS: Prefs = {
  theme: 'system', density: 'comfortable', keys: true, notifications: false, list: 416, remote: false, width: 0, paper: 'light', sample: 'curl',
}

export interface Shelf {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

export class Preferences {
  #shelf: Shelf
  #values = $state<Prefs>({ ...DEFAULTS })

  constructor(shelf: Shelf) {
    this.#shelf = shelf
    this.#values = { ...DEFAULTS, ...read(shelf) }
  }

  get values(): Readonly<Prefs> {
    return this.#values
  }

  set<K extends keyof Prefs>(key: K, value: Prefs[K]): void {
    this.#values[key] = value
    write(this.#shelf, 'postkeep.prefs', this.#values)
  }
}

/** A shelf that may be full, closed to this page or written by another version. */
export function write(shelf: Shelf, key: string, value: unknown): void {
  try {
    shelf.setItem(key, JSON.stringify(value))
  } catch {
    // What cannot be kept is asked again next time.
  }
}

export function taken<T>(shelf: Shelf, key: string): T | null {
  try {
    return JSON.parse(shelf.getItem(key) ?? 'null') as T | null
  } catch {
    return null
  }
}

function read(shelf: Shelf): Partial<Prefs> {
  const kept = taken<Record<string, unknown>>(shelf, 'postkeep.prefs') ?? {}
  const known = Object.entries(DEFAULTS).filter(([key, value]) => typeof kept[key] === typeof value)
  return Object.fromEntries(known.map(([key]) => [key, kept[key]])) as Partial<Prefs>
}
