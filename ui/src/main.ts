// Puts the page into the document and tells it what the window does. The only place that knows both.
import { mount } from 'svelte'
import App from './App.svelte'
import { AppState } from './state/app.svelte'
import { keyIn } from './state/session.svelte'
import './styles/tokens.css'
import './styles/base.css'

const root = new URL('.', document.baseURI)

/** Storage may be forbidden; then it lasts as long as the tab. */
function shelf(): Storage | Pocket {
  try {
    window.localStorage.getItem('postkeep')
    return window.localStorage
  } catch {
    return new Pocket()
  }
}

class Pocket {
  #kept = new Map<string, string>()
  getItem(key: string): string | null {
    return this.#kept.get(key) ?? null
  }
  setItem(key: string, value: string): void {
    this.#kept.set(key, value)
  }
  removeItem(key: string): void {
    this.#kept.delete(key)
  }
}

const app = new AppState(
  root,
  {
    href: () => window.location.href,
    push: (url) => window.history.pushState(null, '', url),
    replace: (url) => window.history.replaceState(window.history.state, '', url),
    kept: () => window.history.state as unknown,
    keep: (value) => window.history.replaceState(value, ''),
  },
  shelf(),
)

/** `#key=…` of a link signs in; before anything else it vanishes from the address. */
function takeKey(): Promise<void> | null {
  const found = keyIn(window.location.href)
  if (!found) return null
  window.history.replaceState(window.history.state, '', found.address)
  return app.session.enter(found.key)
}

window.addEventListener('popstate', () => app.nav.arrived())
window.addEventListener('hashchange', () => void takeKey())
window.addEventListener('online', () => app.live.wake())
document.addEventListener('visibilitychange', () => (document.hidden ? app.live.hidden() : app.live.shown()))
const tabs = new BroadcastChannel(`postkeep ${root.pathname}`)
app.live.opened = () => tabs.postMessage('opened')
tabs.onmessage = () => document.hidden && app.live.letGo()
window.addEventListener('pagehide', () => app.leave())
window.addEventListener('storage', (event) => event.key === 'postkeep.seen' && app.seen.reload())

if (app.prefs.values.notifications) void import('./parts/notify').then(({ notifyOfMail }) => notifyOfMail(app))

await takeKey()
app.start()
const target = document.getElementById('page')
target?.replaceChildren()
if (target) mount(App, { target, props: { app } })
