// All state of the page, put together once; panes reach it by `useApp()`. The one page of wiring.
import { getContext, setContext } from 'svelte'
import { connect, type Calls } from '../api/client'
import { Actions } from './actions.svelte'
import { Clock } from './clock.svelte'
import { Conduct } from './conduct.svelte'
import { Finding } from './finding.svelte'
import { MessageList } from './list.svelte'
import { Live } from './live.svelte'
import { Mailboxes } from './mailboxes.svelte'
import type { Faults } from './faults.svelte'
import type { Monitor } from './monitor.svelte'
import { Navigation, type Place } from './navigation.svelte'
import { Notices } from './notices.svelte'
import { Pending } from './pending.svelte'
import { Preferences, type Shelf } from './prefs.svelte'
import { Reading } from './reading.svelte'
import { Seen } from './seen.svelte'
import { ServerState } from './server.svelte'
import { Sending } from './sending.svelte'
import { Session } from './session.svelte'
import { Shell } from './shell.svelte'

export class AppState {
  readonly calls: Calls
  readonly nav: Navigation
  readonly prefs: Preferences
  readonly actions = new Actions()
  readonly clock = new Clock()
  readonly notices = new Notices()
  readonly shell = new Shell()
  readonly server: ServerState
  readonly live: Live
  readonly seen: Seen
  readonly pending: Pending
  readonly list: MessageList
  readonly mailboxes: Mailboxes
  /** Made when it is first looked at, and kept. */
  monitor: Monitor | null = null
  /** Likewise. */
  faults: Faults | null = null
  readonly reading: Reading
  readonly session: Session
  readonly finding: Finding
  readonly sending: Sending
  readonly #conduct: Conduct

  /** `root` is where the page lives, with a slash at its end. */
  constructor(root: URL, place: Place, shelf: Shelf) {
    this.calls = connect(root)
    this.nav = new Navigation(place, root.pathname)
    this.prefs = new Preferences(shelf)
    this.server = new ServerState(this.calls)
    this.live = new Live(root)
    this.seen = new Seen(shelf)
    this.pending = new Pending(this.calls, this.notices, () => this.server.about?.limits.bulkMax)
    this.list = new MessageList(this.calls, this.live, this.pending, () => this.server.about?.limits.pageFullMax)
    this.mailboxes = new Mailboxes(this.calls, shelf, this.seen)
    this.reading = new Reading(this.calls, root.pathname, ({ mailbox, id }) => this.seen.opened(mailbox, id))
    this.session = new Session(this.nav, this.server)
    const names = () => (this.server.seesAll ? this.mailboxes.items.map(({ name }) => name) : this.mailboxes.recentNames)
    this.finding = new Finding(this.nav, this.server, names, () => this.list.problem)
    this.sending = new Sending(this.calls, this.server, root)
    this.calls.use({ onResponse: ({ response, schemaPath }) => void (response.status === 401 && schemaPath !== '/api/v2/login' && this.session.missing()) })
    this.#conduct = new Conduct(this)
  }

  /** Begins to follow the route; what it hands back ends that. */
  start(): () => void {
    return this.#conduct.start()
  }

  /** The page is left, perhaps for good. */
  leave(): void {
    this.nav.remember()
    this.pending.flush()
    this.seen.flush()
  }

  /** What the window is called. */
  get title(): string {
    return this.#conduct.title
  }

  /** How many came to what is shown while the page was open, and were not opened. */
  get fresh(): number {
    return this.#conduct.fresh
  }
}

const KEY = Symbol('app')
export const provideApp = (app: AppState): AppState => setContext(KEY, app)
export const useApp = (): AppState => getContext<AppState>(KEY)
