// Firefox over WebDriver BiDi as the eye of a hostile run.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import puppeteer, { type Browser, type Frame, type Page } from 'puppeteer-core'
import { firefox } from '../harness'
import { nothing, told, type Eye } from './eye'

/** With a folder of its own for what it downloads, which goes when the browser does. */
export async function launch(): Promise<Browser> {
  const folder = mkdtempSync(join(tmpdir(), 'postkeep-firefox-'))
  const prefs = { 'network.dns.disablePrefetch': false, 'browser.download.folderList': 2, 'browser.download.dir': folder, 'browser.download.alwaysOpenPanel': false, 'pdfjs.disabled': true }
  const browser = await puppeteer.launch({ browser: 'firefox', executablePath: firefox(), headless: true, extraPrefsFirefox: prefs })
  browser.on('disconnected', () => rmSync(folder, { recursive: true, force: true }))
  return browser
}

export async function firefoxEye(browser: Browser, root: string): Promise<Eye & { page: Page }> {
  const found = nothing()
  const page = await browser.newPage()
  await page.setViewport({ width: 1440, height: 900 })
  const ours = (url: string) => url.startsWith(root) || url === '' || url.startsWith('about:')
  page.on('console', (message) => {
    const number = told(message.text())
    if (number !== null) found.ran.add(number)
  })
  page.on('dialog', (dialog) => void (found.dialogs.push(dialog.message()), dialog.dismiss().catch(() => undefined)))
  page.on('framenavigated', (frame: Frame) => !ours(frame.url()) && found.went.push(frame.url()))
  const before = await browser.pages()
  const countOthers = async () => {
    for (const other of (await browser.pages()).filter((one) => one !== page && !before.includes(one))) {
      found.popups.push(other.url())
      await other.close().catch(() => undefined)
    }
  }
  return {
    page,
    found,
    async open(url) {
      // The promise of `goto` does not come back from a document without scripts; the event does. A download has neither.
      const loaded = new Promise<void>((done) => page.once('load', () => done()))
      void page.goto(url, { timeout: 5_000 }).catch(() => undefined)
      await Promise.race([loaded, pause(1_500)])
      if (url.includes('/m/')) await page.waitForSelector('h1, h2', { timeout: 5000 }).catch(() => undefined)
      await shown()
    },
    async tab(number) {
      await page.keyboard.press(String(number) as '1')
      await shown()
    },
    async pressAll() {
      for (const frame of page.frames()) {
        if (frame === page.mainFrame() && page.url().includes('/m/')) continue
        const things = await frame.$$('a, area, button, summary, label, input[type=submit], input[type=image], input[type=checkbox]').catch(() => [])
        for (const thing of things.slice(0, 30)) await Promise.race([thing.click().catch(() => undefined), pause(500)])
      }
      await shown()
      await countOthers()
    },
    at: async () => page.url(),
  }
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))
/** A document without scripts cannot be asked whether it is done: it is given the time that the control run shows to be enough. */
const shown = (): Promise<void> => pause(150)

