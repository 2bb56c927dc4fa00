// Where things are on the page, by what a person or a screen reader knows them by. The one place that knows its markup.
import { expect, type FrameLocator, type Locator, type Page } from '@playwright/test'

export class View {
  readonly page: Page
  readonly list: Locator
  /** Those that are drawn; a long list has more. */
  readonly rows: Locator
  readonly article: Locator
  readonly subject: Locator
  readonly frame: Locator
  readonly body: FrameLocator
  readonly toast: Locator
  readonly field: Locator
  readonly mailbox: Locator

  constructor(page: Page) {
    this.page = page
    this.list = page.locator('#list')
    this.rows = this.list.locator('[aria-posinset]')
    this.article = page.getByRole('article')
    this.subject = this.article.getByRole('heading', { level: 2 }).first()
    this.frame = this.article.locator('iframe')
    this.body = page.frameLocator('article iframe')
    this.toast = page.getByRole('region', { name: 'Notices' }).getByRole('status')
    this.field = page.getByRole('search').getByRole('combobox')
    this.mailbox = this.list.getByRole('heading', { level: 1 })
  }

  row(text: string): Locator {
    return this.rows.filter({ hasText: text })
  }

  tab(name: string): Locator {
    return this.article.getByRole('tab', { name })
  }

  /** A button or one of several choices. */
  choice(name: string): Locator {
    const exact = { name, exact: true }
    return this.article.getByRole('radio', exact).or(this.article.getByRole('button', exact)).first()
  }

  /** Live means that from now on mail comes by itself. */
  async live(): Promise<void> {
    await expect(this.page.getByRole('status').filter({ hasText: 'Live' }).first()).toBeAttached()
  }

  /** From top to bottom, what the drawn rows say. */
  texts(): Promise<string[]> {
    return this.rows.evaluateAll((rows) => {
      const top = (row: Element) => row.getBoundingClientRect().top
      return [...rows].sort((a, b) => top(a) - top(b)).map((row) => row.textContent ?? '')
    })
  }

  /** The element that the rows scroll in. */
  async scroller(): Promise<Locator> {
    await this.list.evaluate((main) => {
      const row = main.querySelector('[aria-posinset]')
      let box: Element | null = row
      while (box && !/auto|scroll/.test(getComputedStyle(box).overflowY)) box = box.parentElement
      box?.setAttribute('data-test-scroller', '')
    })
    return this.page.locator('[data-test-scroller]')
  }

  /** Scrolls by so many rows, and waits until one is drawn there. */
  async scrollTo(top: number): Promise<void> {
    const box = await this.scroller()
    await box.evaluate((element, to) => element.scrollTo(0, to), top)
    await expect(async () => {
      const { from, drawn } = await box.evaluate((element) => {
        const middle = element.getBoundingClientRect().top + element.clientHeight / 2
        const drawn = [...element.querySelectorAll('[aria-posinset]')].some((row) => row.getBoundingClientRect().top <= middle && row.getBoundingClientRect().bottom >= middle)
        return { from: element.scrollTop, drawn }
      })
      expect(from).toBeGreaterThan(0)
      expect(drawn).toBe(true)
    }).toPass()
  }

  /** Everything a visitor sees of where they are, to be compared with what another sees. */
  async shown(): Promise<Record<string, unknown>> {
    const texts = async (of: Locator) => (await of.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim())
    return {
      url: this.page.url(),
      title: (await this.page.title()).replace(/^\(\d+\) /, ''),
      headings: await texts(this.page.getByRole('heading', { level: 1 })),
      subjects: await texts(this.subject),
      tab: await texts(this.article.getByRole('tab', { selected: true })),
      rows: (await this.texts()).length,
      current: await texts(this.list.locator('[aria-current]')),
      field: await this.field.inputValue().catch(() => ''),
    }
  }
}

/** What the system's clipboard holds; only where the page is secure. */
export const clipboard = (page: Page): Promise<string> => page.evaluate(() => navigator.clipboard.readText())
