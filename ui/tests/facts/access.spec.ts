// Facts 19, 20: heard as well as seen, and narrow as well as wide. What axe finds is in axe.spec.ts.
import type { Page } from '@playwright/test'
import { expect, sendMany, test } from '../harness'
import { filled, stops } from '../harness/views'

test('fact 19: new mail is spoken, politely, at most once in 5 s', async ({ page, view, box, server, send }) => {
  await send({ subject: 'Before', text: 'x' })
  await page.goto(`/m/${box}`)
  await view.live()
  await expect(view.row('Before')).toBeVisible()
  await page.evaluate(() => {
    const said: { at: number; text: string }[] = []
    const regions = [...document.querySelectorAll('[aria-live=polite]')].filter((one) => !one.matches('[role=region] *'))
    for (const region of regions) new MutationObserver(() => region.textContent && said.push({ at: performance.now(), text: region.textContent })).observe(region, { childList: true, subtree: true, characterData: true })
    Object.assign(window, { said })
  })
  const said = () => page.evaluate(() => (window as unknown as { said: { at: number; text: string }[] }).said)
  await send({ subject: 'Hear this', text: 'x' })
  await expect.poll(async () => (await said()).map((one) => one.text).join()).toMatch(/Hear this|new/i)
  await sendMany(server, box, 40, 'Flood', { rate: 10 })
  await expect(view.row('Flood 39')).toBeVisible()
  const times = (await said()).map((one) => one.at)
  for (const [n, at] of times.entries()) if (n) expect(at - (times[n - 1] ?? 0)).toBeGreaterThan(4_900)
})

test('fact 19: headings, landmarks and names are there', async ({ page, view, box, send }) => {
  await send({ subject: 'Spoken structure', text: 'x' })
  await page.goto(`/m/${box}`)
  await expect(view.row('Spoken structure')).toBeVisible()
  await page.keyboard.press('Tab')
  await expect(page.getByRole('link', { name: 'Skip to the list' })).toBeFocused()
  await view.row('Spoken structure').click()
  for (const role of ['banner', 'search', 'navigation', 'main'] as const) await expect(page.getByRole(role).first()).toBeVisible()
  await expect(view.mailbox).toContainText(box)
  await expect(view.subject).toHaveText('Spoken structure')
  await expect(view.rows.first()).toHaveAttribute('aria-setsize', '1')
  await expect(view.list.locator('[aria-current]')).toHaveCount(1)
})

/** What sticks out to the side, or can be scrolled to the side; the body of a mail and source lines may. */
const sideways = (page: Page) =>
  page.evaluate(() => {
    const wide = (element: Element) => element.scrollWidth > element.clientWidth + 1
    const mayScroll = (element: Element) => element.closest('pre, code, table, iframe, [role=tablist], [data-scrolls]') !== null
    const out: string[] = []
    if (document.documentElement.scrollWidth > innerWidth) out.push(`document ${document.documentElement.scrollWidth}`)
    for (const element of document.querySelectorAll('body *')) {
      const style = getComputedStyle(element)
      if (/auto|scroll/.test(style.overflowX) && wide(element) && !mayScroll(element)) out.push(`scrolls: ${element.tagName}.${element.className}`)
      if (!element.matches('a, button, input, h1, h2, p, label') || style.visibility === 'hidden' || element.matches('.unseen')) continue
      const box = element.getBoundingClientRect()
      if (box.width > 0 && box.height > 0 && (box.right > innerWidth + 1 || box.left < -1) && !mayScroll(element)) out.push(`out: ${element.tagName}.${element.className} ${Math.round(box.left)}–${Math.round(box.right)}`)
    }
    return out
  })

test.describe('fact 20: no sideways scrolling', () => {
  const house = filled()

  // 400 % zoom of 1280 × 1024 is 320 × 256.
  for (const [words, width, height] of [['at 320 px', 320, 640], ['at 400 % zoom', 320, 256], ['at 719 px', 719, 900], ['at 720 px', 720, 900], ['at 1199 px', 1199, 900]] as const) {
    test(`fact 20: no sideways scrolling ${words}`, async ({ page }) => {
      await page.setViewportSize({ width, height })
      for (const stop of stops(house.ids)) {
        await page.goto(house.server.url + stop.path)
        await expect(page.locator('h1, h2').first()).toBeAttached()
        await expect.poll(() => sideways(page), stop.name).toEqual([])
      }
    })
  }

  test('fact 20: at 320 px one gets from the list to a message and back', async ({ page, view }) => {
    await page.setViewportSize({ width: 320, height: 640 })
    await page.goto(`${house.server.url}/m/ben`)
    await view.row('Reset your password').click()
    await expect(view.subject).toBeVisible()
    await expect(view.rows.first()).toBeHidden()
    await page.getByRole('button', { name: /ben/ }).or(page.getByRole('link', { name: /ben/ })).first().click()
    await expect(view.row('Reset your password')).toBeVisible()
    await page.getByRole('button', { name: 'Mailboxes' }).first().click()
    await expect(page.getByRole('link', { name: /All mail/ })).toBeVisible()
  })
})
