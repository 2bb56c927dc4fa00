// All state of the page, put together once; panes reach it by `useApp()`. The one page of wiring.
import { getContext, setContext } from 'svelte'
import { connect, type Calls } from '../api/client'
import { Actions } from './actions.svelte'
import { Clock } from './clock.svelte'
import { Finding } from './finding.svelte'
import { Live } from './live.svelte'
import { Navigation, type Place } from './navigation.svelte'
import { Notices } from './notices.svelte'
import { Preferences, type Shelf } from './prefs.svelte'
import { Reading } from './reading.svelte'
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
  readonly reading: Reading
  readonly session: Session
  readonly finding: Finding
  readonly sending: Sending

  /** `root` is where the page lives, with a slash at its end. */
  constructor(root: URL, place: Place, shelf: Shelf) {
    this.calls = connect(root)
    this.nav = new Navigation(place, root.pathname)
    this.prefs = new Preferences(shelf)
    this.server = new ServerState(this.calls)
    this.live = new Live(root)
    this.reading = new Reading(this.calls, root.pathname)
    this.session = new Session(this.nav, this.server)
    this.finding = new Finding(this.nav, this.server)
    this.sending = new Sending(this.calls, this.server, root)
    this.calls.use({ onResponse: ({ response, schemaPath }) => void (response.status === 401 && schemaPath !== '/api/v2/login' && this.session.missing()) })
  }
}

const KEY = Symbol('app')
export const provideApp = (app: AppState): AppState => setContext(KEY, app)
export const useApp = (): AppState => getContext<AppState>(KEY)
