// Fact 8 and the budgets of a list in use: arrivals, floods, ten thousand rows flung, an hour of mail.
import type { Page } from '@playwright/test'
import { address, expect, flood, fresh, instant, LONG, mail, send, sendMany, Server, test } from '../harness'
import { check, hold, percentile } from './table'

let server: Server
test.beforeAll(async () => {
  server = await Server.start({ set: { 'mailbox.messages_max': '200000', 'store.memory.bytes_max': '4GiB' } })
})
test.afterAll(() => server.stop())

/** Notes, for each subject, the instant of the first frame with its row on the screen. */
const note = (page: Page) =>
  page.evaluate(() => {
    const seen: Record<string, number> = {}
    Object.assign(window, { seen })
    new MutationObserver(() => {
      const fresh: string[] = []
      for (const row of document.querySelectorAll('[aria-posinset]')) {
        const name = /(Timed|Flood) \d+/.exec(row.textContent ?? '')?.[0]
        if (name && !(name in seen)) fresh.push(name)
      }
      if (!fresh.length) return
      for (const name of fresh) seen[name] = 0
      requestAnimationFrame(() => {
        const now = performance.timeOrigin + performance.now()
        for (const name of fresh) seen[name] = now
      })
    }).observe(document.body, { childList: true, subtree: true, characterData: true })
  })
const noted = (page: Page) => page.evaluate(() => (window as unknown as { seen: Record<string, number> }).seen)

test('250 → row visible', async ({ page, view }) => {
  const box = fresh()
  await send(server, { subject: 'Before', text: 'x' }, box)
  await page.goto(`${server.url}/m/${box}`)
  await view.live()
  await expect(view.row('Before')).toBeVisible()
  await note(page)
  let number = 0
  await hold('250 to row visible, p95', async () => {
    const late: number[] = []
    for (let n = 0; n < 20; n++) {
      const subject = `Timed ${number++}`
      const said = await send(server, { subject, text: 'x' }, box)
      await expect.poll(async () => (await noted(page))[subject] ?? 0, { intervals: [20] }).toBeGreaterThan(0)
      late.push(((await noted(page))[subject] ?? Infinity) - said)
    }
    return percentile(late, 0.95)
  })
})

test('250 → row visible at 1,000/s', async ({ page, view }) => {
  test.setTimeout(120_000)
  const box = fresh()
  await page.goto(`${server.url}/m/${box}`)
  await view.live()
  const counted = async () => Number(await view.rows.first().getAttribute('aria-setsize').catch(() => 0))
  let total = 0
  await hold('250 to row visible at 1,000/s, p95', async () => {
    await note(page)
    const count = LONG ? 5000 : 2000
    const from = total
    const make = (n: number) => ({ to: [address(box)], data: mail({ to: address(box), subject: `Flood ${from + n}`, text: 'x' }) })
    const said = await flood(server.smtpPort, { count, rate: 1000, connections: 8, make })
    total += count
    await expect.poll(counted, { timeout: 30_000 }).toBeGreaterThanOrEqual(Math.min(total, 10_000))
    // Most rows pass between two frames; those that were ever drawn are the ones that can be late.
    const seen = await noted(page)
    const late = said.flatMap((at, n) => (seen[`Flood ${from + n}`] ? [(seen[`Flood ${from + n}`] ?? 0) - at] : []))
    expect(late.length).toBeGreaterThan(20)
    return percentile(late, 0.95)
  })
})

test('fact 08: 10,000 rows flung stay at 60 fps', async ({ page, view }) => {
  test.setTimeout(180_000)
  const box = fresh()
  await page.goto(`${server.url}/m/${box}`)
  await view.live()
  await sendMany(server, box, 10_000, 'Row', { connections: 8 })
  await page.goto(`${server.url}/m/${box}`)
  await expect(view.row('Row').first()).toBeVisible()
  const scroller = await view.scroller()
  // The list fetches as one goes down; to fling through all of it, all of it must have been seen once.
  await expect(async () => {
    await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight))
    expect(await scroller.evaluate((element) => element.scrollHeight)).toBeGreaterThan(9_000 * 32)
  }).toPass({ timeout: 60_000 })
  const frames: number[] = []
  const drawn: number[] = []
  await hold('10,000 rows flung: longest task', async () => {
    await scroller.evaluate((element) => element.scrollTo(0, 0))
    const run = await scroller.evaluate(fling)
    frames.push(percentile(run.frames, 0.95))
    drawn.push(run.drawn)
    return run.longest
  })
  check('10,000 rows flung: frame, p95', frames)
  check('rows in the DOM', [Math.max(...drawn)])
})

/** Two seconds at 20,000 px a second, forth and back, in steps of a frame. */
async function fling(element: Element): Promise<{ longest: number; frames: number[]; drawn: number }> {
  let longest = 0
  const observer = new PerformanceObserver((list) => list.getEntries().forEach((entry) => (longest = Math.max(longest, entry.duration))))
  observer.observe({ entryTypes: ['longtask'] })
  const frames: number[] = []
  let [drawn, last] = [0, performance.now()]
  const begin = last
  await new Promise<void>((done) => {
    const step = (now: number) => {
      frames.push(now - last)
      last = now
      drawn = Math.max(drawn, element.querySelectorAll('[aria-posinset]').length)
      const t = (now - begin) / 1000
      if (t > 2) return done()
      element.scrollTop = (t < 1 ? t : 2 - t) * 20_000
      requestAnimationFrame(step)
    }
    requestAnimationFrame(step)
  })
  await new Promise((done) => setTimeout(done, 100))
  observer.disconnect()
  return { longest, frames: frames.slice(2), drawn }
}

test('an hour at 50 mails/s, in less', async ({ page, view }) => {
  test.setTimeout(900_000)
  const [box, count] = [fresh(), LONG ? 180_000 : 6_000]
  await page.goto(`${server.url}/m/${box}`)
  await view.live()
  const begin = instant()
  await sendMany(server, box, count, 'Hour', { rate: LONG ? 800 : 1000, connections: 8 })
  await expect.poll(async () => Number(await view.rows.first().getAttribute('aria-setsize')), { timeout: 60_000 }).toBeGreaterThanOrEqual(Math.min(count, 10_000))
  console.log(`${count} mails in ${Math.round((instant() - begin) / 1000)} s`)
  const tools = await page.context().newCDPSession(page)
  await tools.send('HeapProfiler.enable')
  await tools.send('HeapProfiler.collectGarbage')
  await tools.send('Performance.enable')
  const { metrics } = await tools.send('Performance.getMetrics')
  const heap = metrics.find((one) => one.name === 'JSHeapUsedSize')?.value ?? NaN
  check('an hour at 50 mails/s: heap', [heap / 1e6])
  check('an hour at 50 mails/s: DOM nodes', [await page.evaluate(() => document.querySelectorAll('*').length)])
})
