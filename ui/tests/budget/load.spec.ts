// Fact 9 and the budgets of the first load: bytes as they were sent, requests, paint, list, an opened message.
import { request, type IncomingMessage } from 'node:http'
import type { Browser, CDPSession, Page } from '@playwright/test'
import { expect, fresh, person, send, sendMany, Server, test, View } from '../harness'
import { check, hold } from './table'

let server: Server
let box: string
test.beforeAll(async () => {
  server = await Server.start()
  box = fresh()
  await sendMany(server, box, 60, 'Mail')
})
test.afterAll(() => server.stop())

interface Loaded {
  url: string
  type: string
  bytes: number
}

/** Everything that a fresh browser fetches for a view until its list stands there. */
async function cold(browser: Browser): Promise<{ loaded: Loaded[]; page: Page; tools: CDPSession; close: () => Promise<void> }> {
  const { context, page } = await person(browser)
  const tools = await context.newCDPSession(page)
  await tools.send('Network.enable')
  const loaded = new Map<string, Loaded>()
  tools.on('Network.responseReceived', ({ requestId, response, type }) => loaded.set(requestId, { url: response.url, type, bytes: 0 }))
  tools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const one = loaded.get(requestId)
    if (one) one.bytes = encodedDataLength
  })
  await page.goto(`${server.url}/m/${box}`)
  await expect(new View(page).row('Mail 59')).toBeVisible()
  await new View(page).live()
  return { loaded: [...loaded.values()], page, tools, close: () => context.close() }
}

/** The bytes of a file as they go over the wire to who takes gzip alone. */
async function gzipped(url: string): Promise<number> {
  const answer = await new Promise<IncomingMessage>((done, fail) => request(url, { headers: { 'accept-encoding': 'gzip' } }, done).on('error', fail).end())
  let bytes = 0
  for await (const piece of answer) bytes += (piece as Buffer).length
  expect(answer.headers['content-encoding']).toBe('gzip')
  return bytes
}

test('fact 09: first load ≤ 80 kB in ≤ 5 requests', async ({ browser }) => {
  const { loaded, close } = await cold(browser)
  const files = loaded.filter((one) => !one.url.includes('/api/'))
  const sum = (of: Loaded[]) => of.reduce((total, one) => total + one.bytes, 0)
  console.log(loaded.map((one) => `${one.bytes} ${one.type} ${new URL(one.url).pathname}${new URL(one.url).search}`).join('\n'))
  expect(files.every((one) => one.bytes > 0)).toBe(true)
  // Browsers that take brotli get less; the limit is for those that do not.
  const scripts = await Promise.all(files.filter((one) => one.type === 'Script').map((one) => gzipped(one.url)))
  check('JS at first load', [scripts.reduce((total, bytes) => total + bytes, 0)])
  check('CSS at first load', [sum(files.filter((one) => one.type === 'Stylesheet'))])
  check('all at first load', [sum(files)])
  check('requests at first load', [files.length])
  const lists = loaded.filter((one) => /\/messages\?(?!.*ids=)|\/messages$/.test(one.url))
  check('requests for the list', [lists.length])
  await close()
})

test('first paint, and the list after it', async ({ browser }) => {
  const paints: number[] = []
  await hold('first paint, cold', async () => {
    const { page, close } = await cold(browser)
    const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN)
    paints.push(paint)
    await close()
    return paint
  })
  await hold('list of 50 after the HTML', async () => {
    const { context, page, view } = await person(browser)
    await page.addInitScript(() => {
      new MutationObserver((_, observer) => {
        if (document.querySelectorAll('[aria-posinset]').length < 10) return
        observer.disconnect()
        requestAnimationFrame(() => Object.assign(window, { listed: performance.now() }))
      }).observe(document, { childList: true, subtree: true })
    })
    await page.goto(`${server.url}/m/${box}`)
    await expect(view.row('Mail 59')).toBeVisible()
    const times = await page.evaluate(() => {
      const html = performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming
      return { listed: (window as unknown as { listed: number }).listed, html: html.responseEnd }
    })
    await context.close()
    return times.listed - times.html
  })
})

test('a 20 kB message opens', async ({ browser }) => {
  const words = 'Some words of a longer mail that people read. '.repeat(220)
  for (const n of [0, 1]) await send(server, { subject: `Long ${n}`, text: words, html: `<h1>Long ${n}</h1><p id=end>${words}</p>` }, `${box}-long`)
  const { context, page, view } = await person(browser)
  await page.goto(`${server.url}/m/${box}-long`)
  await view.row('Long 0').click()
  await expect(view.body.locator('h1')).toHaveText('Long 0')
  let next = 1
  await hold('open a 20 kB message', async () => {
    const subject = `Long ${next}`
    next = 1 - next
    const took = page.evaluate((wanted) => {
      return new Promise<number>((done) => {
        const begin = performance.now()
        const watch = () => {
          const frame = document.querySelector('article iframe')
          const right = document.querySelector('article h2')?.textContent === wanted
          if (right && frame && !frame.hasAttribute('data-awaited')) {
            frame.setAttribute('data-awaited', '')
            frame.addEventListener('load', () => requestAnimationFrame(() => done(performance.now() - begin)), { once: true })
          } else requestAnimationFrame(watch)
        }
        document.querySelector('article iframe')?.removeAttribute('data-awaited')
        const row = [...document.querySelectorAll<HTMLElement>('[aria-posinset]')].find((one) => one.textContent?.includes(wanted))
        const link = row?.matches('a') ? row : row?.querySelector<HTMLElement>('a')
        link?.click()
        watch()
      })
    }, subject)
    const value = await took
    await expect(view.body.locator('h1')).toHaveText(subject)
    return value
  })
  await context.close()
})
