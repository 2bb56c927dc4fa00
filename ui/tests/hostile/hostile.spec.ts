// T038–T052: hostile mail is opened in every tab, alone and by its files. Nothing runs, nothing is fetched, nothing moves.
import { mkdirSync, writeFileSync } from 'node:fs'
import { Canary, expect, fresh, LONG, Server, test } from '../harness'
import { chromiumEye } from './chromium'
import { unguarded } from './control'
import { look, type Eye, type Findings } from './eye'
import { firefoxEye, launch } from './firefox'
import { bait, type Bait } from './mails'
import { payloads, some, type Payload } from './payloads'

let server: Server
let canary: Canary
let all: Payload[]
test.beforeAll(async () => {
  server = await Server.start()
  canary = await Canary.start()
  all = payloads(`http://127.0.0.1:${canary.port}`)
})
test.afterAll(async () => {
  await server.stop()
  canary.stop()
})

const report = (name: string, chosen: Payload[], { ran, dialogs, went, popups, late }: Findings, asked: string[]): void => {
  const numbers = new Set(asked.map((line) => Number(/\/p(\d+)\//.exec(line)?.[1])))
  const figures = { run: name, payloads: chosen.length, executions: ran.size, 'payloads that fetched': numbers.size, requests: asked.length, dialogs: dialogs.length, navigations: went.length, popups: popups.length, late: late.length }
  mkdirSync('tests/out', { recursive: true })
  writeFileSync(`tests/out/hostile-${name}.json`, JSON.stringify({ ...figures, ran: [...ran], asked, went, popups, late }, null, 1))
  console.log(Object.entries(figures).map(([key, value]) => `${key} ${value}`).join(', '))
}

const clean = { ran: [] as number[], asked: [] as string[], dialogs: [] as string[], went: [] as string[], popups: [] as string[], late: [] as string[] }
const seen = ({ ran, ...rest }: Findings, asked: string[]) => ({ ran: [...ran], asked, ...rest })

async function run(name: string, eye: Eye, root: string, count: number): Promise<{ findings: Findings; asked: string[]; chosen: Payload[] }> {
  const chosen = some(all, count)
  const baits: Bait[] = await bait(server, fresh('bait'), chosen)
  const { findings, asked } = await look(eye, root, baits, canary)
  report(name, chosen, findings, asked)
  return { findings, asked, chosen }
}

test('there are 500 payloads and more, from every family', () => {
  expect(all.length).toBeGreaterThanOrEqual(500)
  expect(new Set(all.map((one) => one.value)).size).toBe(all.length)
  expect([...new Set(all.map((one) => one.threat))].sort()).toEqual(['T038', 'T040', 'T043', 'T046', 'T048', 'T049', 'T050', 'T051'])
})

test('T038–T052 in Chromium: 0 executions, 0 requests, 0 navigations', async ({ context }) => {
  test.setTimeout(LONG ? 1_800_000 : 120_000)
  const { findings, asked } = await run('chromium', await chromiumEye(context, server.url), server.url, LONG ? Infinity : 60)
  expect(seen(findings, asked)).toEqual(clean)
})

test('control in Chromium: without the guards the same mails run and fetch', async ({ context }) => {
  test.setTimeout(LONG ? 1_800_000 : 120_000)
  const proxy = await unguarded(server)
  const root = `http://127.0.0.1:${proxy.port}`
  const { findings, asked, chosen } = await run('chromium-control', await chromiumEye(context, root), root, LONG ? 120 : 30)
  proxy.stop()
  expect(findings.ran.size).toBeGreaterThan(chosen.length / 20)
  expect(asked.length).toBeGreaterThan(chosen.length / 20)
})

test('T038–T052 in Firefox: 0 executions, 0 requests, 0 navigations', async () => {
  test.setTimeout(LONG ? 3_600_000 : 180_000)
  const browser = await launch()
  try {
    const { findings, asked } = await run('firefox', await firefoxEye(browser, server.url), server.url, LONG ? Infinity : 30)
    expect(seen(findings, asked)).toEqual(clean)
  } finally {
    await browser.close()
  }
})

test('control in Firefox: without the guards the same mails run and fetch', async () => {
  test.setTimeout(LONG ? 3_600_000 : 180_000)
  const [browser, proxy] = [await launch(), await unguarded(server)]
  const root = `http://127.0.0.1:${proxy.port}`
  try {
    const { findings, asked, chosen } = await run('firefox-control', await firefoxEye(browser, root), root, LONG ? 60 : 15)
    expect(findings.ran.size + asked.length).toBeGreaterThan(chosen.length / 20)
  } finally {
    await browser.close()
    proxy.stop()
  }
})
