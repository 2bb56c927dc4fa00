// Mail that comes fast and streams that break, on each engine: nothing missing, nothing twice.
import { engines, expect, fresh, LONG, sendMany, Server, test, View } from './harness'

for (const engine of engines) {
  test.describe(`streams on ${engine}`, () => {
    let server: Server
    test.beforeAll(async () => {
      server = await Server.start({ engine, set: { 'mailbox.messages_max': '50000' } })
    })
    test.afterAll(() => server.stop())

    test(`${engine}: ${LONG ? '1,000/s for 30 s' : '1,000/s for 3 s'}: nothing missing or twice`, async ({ page }) => {
      test.setTimeout(LONG ? 240_000 : 60_000)
      const [view, box, count] = [new View(page), fresh(), LONG ? 30_000 : 3_000]
      await page.goto(`${server.url}/m/${box}`)
      await view.live()
      const begin = performance.now()
      await sendMany(server, box, count, 'Fast', { rate: 1000, connections: 8 })
      const took = (performance.now() - begin) / 1000
      test.info().annotations.push({ type: 'rate', description: `${Math.round(count / took)}/s` })
      const kept = Math.min(count, 10_000)
      await expect.poll(async () => Number(await view.rows.first().getAttribute('aria-setsize')), { timeout: 60_000 }).toBeGreaterThanOrEqual(kept)
      const numbers = await walk(view, LONG ? 2_000 : 800)
      expect(new Set(numbers).size, 'twice').toBe(numbers.length)
      const [first, last] = [Math.max(...numbers), Math.min(...numbers)]
      expect(first).toBe(count - 1)
      expect(first - last + 1, 'missing').toBe(numbers.length)
    })

    test(`${engine}: list, open, delete and all mail`, async ({ page }) => {
      const [view, box] = [new View(page), fresh()]
      await page.goto(`${server.url}/`)
      await view.live()
      await sendMany(server, box, 3, `On ${engine} ${box}`, { connections: 1 })
      await expect(view.row(`On ${engine} ${box} 2`)).toBeVisible()
      await page.goto(`${server.url}/m/${box}`)
      await expect(view.rows).toHaveCount(3)
      await view.row(`On ${engine} ${box} 1`).click()
      await expect(view.subject).toHaveText(`On ${engine} ${box} 1`)
      await page.keyboard.press('#')
      await expect(view.rows).toHaveCount(2)
      await page.goto('about:blank')
      await page.goto(`${server.url}/m/${box}`)
      await expect(view.rows).toHaveCount(2)
    })

    test(`${engine}: what others delete and purge leaves the screen`, async ({ page }) => {
      const [view, box] = [new View(page), fresh()]
      await sendMany(server, box, 4, 'Mail', { connections: 1 })
      await page.goto(`${server.url}/m/${box}`)
      await expect(view.rows).toHaveCount(4)
      await view.live()
      const path = `/api/v2/mailboxes/${box}/messages`
      const { items } = await server.ask<{ items: { id: string }[] }>(path)
      await server.ask(`${path}/${items[1]?.id}`, { method: 'DELETE' })
      await expect(view.rows).toHaveCount(3)
      await server.ask(path, { method: 'DELETE' })
      await expect(view.rows).toHaveCount(0)
    })

    test(`${engine}: a stream that is told to list anew does, and keeps the place`, async ({ page }) => {
      const [view, box] = [new View(page), fresh()]
      await sendMany(server, box, 120, 'Mail', { connections: 1 })
      await page.goto(`${server.url}/m/${box}`)
      await expect(view.row('Mail 119')).toBeVisible()
      await view.live()
      await view.scrollTo(1_200)
      const place = await (await view.scroller()).evaluate((element) => element.scrollTop)
      const middle = (await view.texts())[12]?.match(/Mail \d+/)?.[0] ?? ''
      // What is lost on the way comes back as `resync`, or as what was missed: both must end in the same list.
      await page.context().setOffline(true)
      await sendMany(server, box, 400, 'Away', { connections: 2 })
      await page.context().setOffline(false)
      await view.live()
      await expect(view.list.getByRole('button', { name: /new/ }).first()).toBeVisible({ timeout: 20_000 })
      await expect(view.row(middle).first()).toBeVisible()
      expect(await (await view.scroller()).evaluate((element) => element.scrollTop)).toBeGreaterThan(place)
    })
  })
}

/** The numbers in the subjects of the uppermost rows, read as a person would: screen by screen. */
async function walk(view: View, rows: number): Promise<number[]> {
  const box = await view.scroller()
  return box.evaluate(async (element, count) => {
    const seen = new Map<number, number>()
    const frame = () => new Promise((done) => requestAnimationFrame(done))
    const read = () => {
      for (const row of element.querySelectorAll('[aria-posinset]')) {
        const number = /Fast (\d+)/.exec(row.textContent ?? '')?.[1]
        if (number) seen.set(Number(row.getAttribute('aria-posinset')), Number(number))
      }
    }
    for (let place = 1; place <= count; place += 8) {
      element.scrollTop = (place - 1) * 56
      for (let n = 0; n < 120 && !(seen.has(place) && seen.has(Math.min(place + 7, count))); n++) {
        await frame()
        read()
      }
    }
    return [...seen.keys()].filter((place) => place <= count).sort((a, b) => a - b).map((place) => seen.get(place) ?? -1)
  }, rows)
}
