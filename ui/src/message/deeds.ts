// What is done with a message from more than one place: head, bar and keys. Knows the clipboard, so it lives beside the parts.
import { t } from '../i18n/message'
import type { Message } from '../api/client'
import { listing, mailbox, reading, type Route } from '../router'
import type { AppState } from '../state/app.svelte'
import { copyAs, SAMPLES } from '../state/copyas'
import { copy } from '../parts/clipboard'
import type { Item } from '../parts/Menu.svelte'

export function copyItems(app: AppState, message: Message): Item[] {
  const link = app.nav.lasting(reading(message.mailbox, message.id))
  const like = {
    server: new URL('.', app.nav.lasting(listing(mailbox('-')))).href.replace(/m\/$/, ''),
    mailbox: message.mailbox, subject: message.subject, from: message.from.email, hasCode: app.reading.code !== null, hasLink: app.reading.link !== null,
  }
  const to = address(app, message)
  return [
    { label: t('copyAs.link'), run: () => void copy(app, link, t('copied.message')) },
    { label: t('copyAs.address'), note: to, run: () => void copy(app, to, to) },
    ...SAMPLES.map((name, at) => ({
      label: t(`copyAs.${name}`), group: at ? undefined : t('copyAs.code'), run: () => void copy(app, copyAs(name, like), t('copied.sample', t(`copyAs.${name}`))),
    })),
  ]
}

/** To which mail for this mailbox is sent: as it was this time, else as the server would have it. */
function address(app: AppState, message: Message): string {
  const domain = app.server.about?.domain ?? 'example.com'
  return message.envelope.rcptTo[0] ?? (message.mailbox.includes('@') ? message.mailbox : `${message.mailbox}@${domain}`)
}

/** This view for somebody else: what follows the newest becomes what it shows now. */
export function viewUrl(app: AppState): string {
  const { route } = app.nav
  const message = app.reading.message
  const lasting: Route = route.view === 'mail' && route.follow && message ? reading(message.mailbox, message.id, route, route.tab) : route
  return app.nav.lasting(lasting)
}

/** Nothing where mail does not leave, or not for this visitor. */
export function releaseItems(app: AppState, message: Message): Item[] {
  return app.server.releases ? [{ label: t('release'), hint: 'r', run: () => (app.shell.releasing = message) }] : []
}

/** Letters that every file system takes. */
export function fileName(message: Message): string {
  const words = message.subject.match(/[\p{L}\p{N}]+/gu) ?? []
  return `${words.join('-').slice(0, 60) || message.id}.eml`
}

/** Hides it for as long as that can be undone; in all mail the line goes with all its copies. */
export function remove(app: AppState, message: Message): void {
  const { route } = app.nav
  const row = route.view === 'mail' && route.scope.kind === 'all' ? app.list.find(message.mailbox, message.id) : null
  app.pending.delete(row?.copies ?? [{ mailbox: message.mailbox, id: message.id }], 1)
}
