// Fact 28: while faults are in force the page says so, and what they did is told apart from what the server refuses by itself.
import { address, deliver, expect, fresh, mail, Server, test } from '../harness'

interface Asked {
  mailbox?: string
  sender?: string
  stage?: string
  reply?: { code: number; enhanced?: string; text?: string }
  first?: number
  delay?: string
  ttl?: string
  note?: string
}

let server: Server
test.beforeEach(async () => void (server = await Server.start()))
test.afterEach(() => server.stop())

const plan = (asked: Asked) => server.ask<{ id: string }>('/api/v2/faults', { method: 'POST', body: JSON.stringify(asked) })
const later = { code: 451, enhanced: '4.3.0', text: 'Try again later' }
const post = (box: string) => deliver(server.smtpPort, { to: [address(box)], data: mail({ subject: 'Tried', text: 'x' }) })

test('fact 28: a plan is said on the open page, with what and until when, and removed there', async ({ page, view }) => {
  const box = fresh()
  await page.goto(`${server.url}/m/${box}`)
  await view.live()
  const banner = page.getByRole('region', { name: 'Faults' })
  await expect(banner).toHaveCount(0)
  await plan({ mailbox: box, reply: later, ttl: '10m' })
  await expect(banner, 'without reload').toContainText('1 fault in force', { timeout: 20_000 })
  await expect(banner).toContainText(new RegExp(`451 4\\.3\\.0 Try again later: mail to ${box}, every attempt, until \\d\\d:\\d\\d`))
  await expect(post(box)).rejects.toThrow('451 4.3.0 Try again later')
  await banner.getByRole('button', { name: /^Remove/ }).click()
  await expect(view.toast).toContainText('Fault removed')
  await expect(banner).toHaveCount(0)
  await post(box)
  await expect(view.row('Tried')).toBeVisible()
})

test('fact 28: the view lists them all, counts what they hit, and is reached by banner, key and palette', async ({ page }) => {
  const box = fresh()
  await plan({ mailbox: box, reply: later, first: 2, ttl: '10m', note: 'greylisting' })
  await plan({ sender: '@shop.test', stage: 'data', delay: '50ms', ttl: '5m' })
  await plan({ reply: { code: 452, enhanced: '4.2.2' }, sender: 'nobody@elsewhere.test', ttl: '1h' })
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(server.url)
  const banner = page.getByRole('region', { name: 'Faults' })
  await expect(banner).toContainText('3 faults in force')
  await banner.getByRole('link', { name: 'Show all' }).click()
  await expect(page).toHaveURL(`${server.url}/faults`)
  await expect(page.getByRole('heading', { name: 'Faults' })).toBeVisible()
  const line = page.getByRole('listitem').filter({ hasText: 'greylisting' })
  await expect(line).toContainText(/451 4\.3\.0 Try again later.*at RCPT · the first 2 attempts.*Hit 0 of 0 attempts/s)
  for (const attempt of [1, 2]) await expect(post(box), `attempt ${attempt}`).rejects.toThrow('451')
  await post(box)
  await expect(line).toContainText('Hit 2 of 3 attempts', { timeout: 10_000 })
  await page.setViewportSize({ width: 1440, height: 900 })
  await line.getByRole('button', { name: /^Remove/ }).click()
  await expect(line).toHaveCount(0)
  await page.goto(server.url)
  await expect(banner).toContainText('2 faults in force')
  await page.keyboard.press('g')
  await page.keyboard.press('f')
  await expect(page).toHaveURL(`${server.url}/faults`)
  await page.goto(server.url)
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'What do you want to do?' }).fill('faults')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(`${server.url}/faults`)
})

test('fact 28: one whose time is over is gone by itself', async ({ page }) => {
  await plan({ reply: later, ttl: '4s' })
  await page.goto(`${server.url}/faults`)
  await expect(page.getByText('1 fault in force')).toBeVisible()
  await expect(page.getByText('No fault is in force')).toBeVisible({ timeout: 10_000 })
})

test('fact 28: the monitor tells what a fault refused, and what it did besides', async ({ page }) => {
  const [refused, late] = [fresh('refused'), fresh('late')]
  await plan({ mailbox: refused, reply: later })
  await plan({ mailbox: late, stage: 'data', delay: '50ms' })
  await page.goto(`${server.url}/monitor`)
  await expect(page.getByRole('status').filter({ hasText: 'Live' })).toBeVisible()
  await expect(post(refused)).rejects.toThrow('451')
  const line = (box: string, kind: string) => page.getByRole('main').getByRole('listitem').filter({ hasText: box }).filter({ hasText: kind })
  await expect(line(refused, 'Refused')).toContainText(/451 4\.3\.0 Try again later.*on demand: a fault plan/s)
  await post(late)
  await expect(line(late, 'Taken')).toBeVisible()
  await expect(line(late, 'Fault')).toContainText('on demand: a fault plan')
  await line(refused, 'Refused').getByRole('link', { name: 'a fault plan' }).click()
  await expect(page).toHaveURL(`${server.url}/faults`)
})

test('fact 28: nobody is told of faults where there are none to be had', async ({ page, view }) => {
  const open = await Server.start({ mode: 'public' })
  await page.goto(`${open.url}/m/somebody`)
  await view.live()
  await expect(page.getByRole('region', { name: 'Faults' })).toHaveCount(0)
  await open.stop()
})
