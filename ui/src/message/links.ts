// A link as it is written: where it leads is always seen, as it is looked up. Pure.
import { t } from '../i18n/message'
import { opens } from '../state/reading.svelte'
import type { Link } from '../state/pick'
import { host, visible } from '../parts/visible'

const KINDS = ['verify', 'reset', 'magic-login', 'unsubscribe'] as const

export function kindOf(link: Link): string {
  const known = KINDS.find((kind) => kind === link.kind)
  return t(`kind.${known ?? 'other'}`)
}

/** What the mail calls it, unless that is an address itself. */
export function caption(link: Link): string {
  const text = link.text.trim()
  if (text && !/^(https?:\/\/|www\.)/i.test(text)) return visible(text)
  return KINDS.some((kind) => kind === link.kind) ? kindOf(link) : t('link.open')
}

/** The host in ASCII, or whom a mailto is for. */
export function hostOf(href: string): string {
  return /^mailto:/i.test(href) ? visible(href.slice(7).split('?')[0] ?? '') : host(href)
}

export { opens }
