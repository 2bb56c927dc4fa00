// What a browser must be able to do for a hostile run, and what the run found. The browsers themselves are elsewhere.
import type { Canary } from '../harness'
import type { Bait } from './mails'

export interface Findings {
  /** Numbers of payloads that ran. */
  ran: Set<number>
  dialogs: string[]
  /** Where a page or a frame went that should have stayed. */
  went: string[]
  popups: string[]
  /** Where the page did not answer any more. */
  late: string[]
}

export interface Eye {
  found: Findings
  /** To an address, until it and its frames are loaded. */
  open(url: string): Promise<void>
  /** One of the tabs of the open message, by its number. */
  tab(number: number): Promise<void>
  /** Everything in the body of the mail that can be pressed. */
  pressAll(): Promise<void>
  /** The address that the page is at. */
  at(): Promise<string>
}

export const nothing = (): Findings => ({ ran: new Set(), dialogs: [], went: [], popups: [], late: [] })

/** The number in what a payload says when it runs. */
export function told(text: string): number | null {
  const said = /^pwned-(\d+)$/.exec(text)
  return said ? Number(said[1]) : null
}

/** Every mail in every tab, its body alone, its files; then the same text in addresses. */
export async function look(eye: Eye, root: string, baits: Bait[], canary: Canary): Promise<{ findings: Findings; asked: string[] }> {
  const before = canary.asked.length
  for (const one of baits) {
    const page = `${root}/m/${one.mailbox}/${one.id}`
    await eye.open(page)
    if (one.click) await eye.pressAll()
    const tabs = one.payloads[0]?.place === 'html' && one.click ? [1] : [2, 3, 4, 5, 1]
    for (const number of tabs) await eye.tab(number)
    const at = await eye.at()
    if (!at.startsWith(page)) eye.found.went.push(`${at} from ${page}`)
    const api = `${root}/api/v2/mailboxes/${one.mailbox}/messages/${one.id}`
    if (one.hasHtml) {
      await eye.open(`${api}/html`)
      if (one.click) await eye.pressAll()
    }
    for (const part of one.parts) await eye.open(`${api}/parts/${part}?view=true`)
  }
  for (const { value } of baits.flatMap((one) => one.payloads).filter((one) => one.place === 'field')) {
    await eye.open(`${root}/m/${encodeURIComponent(value)}`)
    await eye.open(`${root}/?q=${encodeURIComponent(value)}`)
  }
  return { findings: eye.found, asked: canary.asked.slice(before) }
}
