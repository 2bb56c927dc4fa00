// Chromium as the eye of a hostile run.
import type { BrowserContext, Page } from '@playwright/test'
import { nothing, told, type Eye } from './eye'

/** How long a mail may keep the page from answering. */
const PATIENCE = 10_000
const PRESSED_MAX = 30
const PRESS_PATIENCE = 400

export async function chromiumEye(context: BrowserContext, root: string): Promise<Eye> {
  const found = nothing()
  const ours = (url: string) => url.startsWith(root) || url === '' || url.startsWith('about:')
  let opening = false
  context.on('page', (other) => {
    if (opening) return
    found.popups.push(other.url())
    void other.close().catch(() => undefined)
  })
  let page = await watched()

  async function watched(): Promise<Page> {
    opening = true
    const page = await context.newPage()
    opening = false
    page.on('console', (message) => {
      const number = message.type() === 'log' ? told(message.text()) : null
      if (number !== null) found.ran.add(number)
    })
    page.on('dialog', (dialog) => void (found.dialogs.push(dialog.message()), dialog.dismiss().catch(() => undefined)))
    page.on('framenavigated', (frame) => !ours(frame.url()) && found.went.push(frame.url()))
    page.on('download', (download) => void download.cancel().catch(() => undefined))
    return page
  }

  /** A page that does not come back is counted, and left for a new one. */
  async function inTime(step: (page: Page) => Promise<void>, patience = PATIENCE): Promise<void> {
    const [at, late] = [page.url(), Symbol('late')]
    let timer: ReturnType<typeof setTimeout> | undefined
    const over = new Promise<symbol>((done) => (timer = setTimeout(() => done(late), patience)))
    const ended = await Promise.race([step(page), over]).finally(() => clearTimeout(timer))
    if (ended !== late) return
    found.late.push(at)
    void page.close().catch(() => undefined)
    page = await watched()
  }

  return {
    found,
    open: (url) => inTime(async (page) => {
      await page.goto(url, { waitUntil: 'load', timeout: 0 }).catch((fault: unknown) => {
        // A file that is not shown is downloaded, a mail that leads elsewhere is counted above, and what is late is left.
        if (!/Download is starting|ERR_ABORTED|interrupted|has been closed/.test(String(fault))) throw fault
      })
      if (url.includes('/m/')) await page.locator('h1, h2').first().waitFor({ state: 'attached', timeout: 5000 }).catch(() => undefined)
      await shown(page)
    }),
    tab: (number) => inTime(async (page) => {
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
      await page.keyboard.press(String(number))
      await shown(page)
    }),
    pressAll: () => inTime(async (page) => {
      for (const frame of page.frames()) {
        if (frame === page.mainFrame() && page.url().includes('/m/')) continue
        const things = await frame.locator('a, area, button, summary, label, input[type=submit], input[type=image], input[type=checkbox], svg text').all().catch(() => [])
        for (const thing of things.slice(0, PRESSED_MAX)) await thing.click({ timeout: PRESS_PATIENCE, force: true, noWaitAfter: true }).catch(() => undefined)
      }
      await shown(page)
    }, PATIENCE + PRESSED_MAX * PRESS_PATIENCE),
    at: async () => page.url(),
  }
}

/** Frames are loaded, and what a picture or an animation raises on its own has been raised. */
async function shown(page: Page): Promise<void> {
  for (const frame of page.frames()) await frame.waitForLoadState('load', { timeout: 2000 }).catch(() => undefined)
  // Outside the browser, since a document without scripts has no timers either. The control run shows that it is enough.
  await new Promise((done) => setTimeout(done, 80))
}
