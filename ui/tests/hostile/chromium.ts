// Chromium as the eye of a hostile run.
import type { BrowserContext, Page } from '@playwright/test'
import { nothing, told, type Eye } from './eye'

export async function chromiumEye(context: BrowserContext, root: string): Promise<Eye> {
  const found = nothing()
  const page = await context.newPage()
  const ours = (url: string) => url.startsWith(root) || url === '' || url.startsWith('about:')
  context.on('page', (other) => {
    if (other === page) return
    found.popups.push(other.url())
    void other.close().catch(() => undefined)
  })
  page.on('console', (message) => {
    const number = message.type() === 'log' ? told(message.text()) : null
    if (number !== null) found.ran.add(number)
  })
  page.on('dialog', (dialog) => void (found.dialogs.push(dialog.message()), dialog.dismiss().catch(() => undefined)))
  page.on('framenavigated', (frame) => !ours(frame.url()) && found.went.push(frame.url()))
  page.on('download', (download) => void download.cancel().catch(() => undefined))
  return {
    found,
    async open(url) {
      await page.goto(url, { waitUntil: 'load' }).catch((fault: unknown) => {
        // A file that is not shown is downloaded, and a mail that leads elsewhere is counted above.
        if (!/Download is starting|ERR_ABORTED|interrupted/.test(String(fault))) throw fault
      })
      if (url.includes('/m/')) await page.locator('h1, h2').first().waitFor({ state: 'attached', timeout: 5000 }).catch(() => undefined)
      await shown(page)
    },
    async tab(number) {
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
      await page.keyboard.press(String(number))
      await shown(page)
    },
    async pressAll() {
      for (const frame of page.frames()) {
        if (frame === page.mainFrame() && page.url().includes('/m/')) continue
        const things = await frame.locator('a, area, button, summary, label, input[type=submit], input[type=image], input[type=checkbox], svg text').all().catch(() => [])
        for (const thing of things.slice(0, 30)) await thing.click({ timeout: 400, force: true, noWaitAfter: true }).catch(() => undefined)
      }
      await shown(page)
    },
    at: async () => page.url(),
  }
}

/** Frames are loaded, and what a picture or an animation raises on its own has been raised. */
async function shown(page: Page): Promise<void> {
  for (const frame of page.frames()) await frame.waitForLoadState('load', { timeout: 2000 }).catch(() => undefined)
  // Outside the browser, since a document without scripts has no timers either. The control run shows that it is enough.
  await new Promise((done) => setTimeout(done, 80))
}
