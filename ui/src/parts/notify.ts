// New mail as a notification of the system, while nobody looks at the tab. One for a burst: the last mail and how many.
import type { StreamEvent } from '../api/stream'
import type { Summary } from '../api/client'
import { t } from '../i18n'
import { listing, mailbox, reading } from '../router'
import type { AppState } from '../state/app.svelte'
import { visible } from './visible'

/** Mails that come within this are told as one. */
const TOGETHER = 1000

let listening = false

/** Once for a page; whether it tells is asked each time. */
export function notifyOfMail(app: AppState): void {
  if (listening) return
  listening = true
  let waiting: Summary[] = []
  const tell = () => {
    const newest = waiting.at(-1)
    const count = waiting.length
    waiting = []
    if (!newest || !document.hidden) return
    const title = count === 1 ? visible(newest.subject) || t('no.subject') : t('notify.many', count)
    const shown = new Notification(title, { body: visible(newest.from.name || newest.from.email), tag: 'postkeep' })
    shown.onclick = () => {
      window.focus()
      app.nav.go(count === 1 ? reading(newest.mailbox, newest.id) : listing(mailbox(newest.mailbox)))
      shown.close()
    }
  }
  app.live.keepListening = app.prefs.values.notifications
  app.live.listen({
    event: ({ event, data }: StreamEvent) => {
      if (event !== 'deliver' || !app.prefs.values.notifications || !document.hidden) return
      if (waiting.length === 0) setTimeout(tell, TOGETHER)
      waiting.push((data as { message: Summary }).message)
    },
  })
}
