// Facts 13, 14, 15, 16: how a mail is shown, and what opening it does not do.
import { CANARIES, expect, newsletter, person, reset, test } from '../harness'

test('fact 13: opening the newsletter makes 0 requests, "Load once" 14', async ({ page, view, box, send, canary }) => {
  const asked = () => canary.asked.length
  const before = asked()
  await send(newsletter(CANARIES, canary.port))
  await page.goto(`/m/${box}`)
  await view.row('Acme Weekly').click()
  await expect(view.body.getByText('Twelve things we made.')).toBeVisible()
  await expect(view.article.getByText(/13 images, 1 pixel from 2 hosts/)).toBeVisible()
  for (const tab of ['Text', 'Headers', 'Source', 'Parts', 'HTML']) {
    await view.tab(tab).click()
    await expect(view.tab(tab)).toHaveAttribute('aria-selected', 'true')
  }
  await expect(view.body.getByText('Twelve things we made.')).toBeVisible()
  for (const frame of page.frames()) await frame.waitForLoadState('load')
  expect(asked() - before, canary.asked.slice(before).join('\n')).toBe(0)
  await view.article.getByRole('button', { name: 'Load once' }).click()
  await expect.poll(() => asked() - before).toBe(14)
  await page.reload()
  await expect(view.body.getByText('Twelve things we made.')).toBeVisible()
  expect(asked() - before, 'once is once').toBe(14)
})

test('fact 13: i loads them too, and "Always" is kept', async ({ page, view, box, send, canary }) => {
  await send(newsletter(CANARIES, canary.port))
  await page.goto(`/m/${box}/latest`)
  await expect(view.body.getByText('Twelve things we made.')).toBeVisible()
  let before = canary.asked.length
  await page.keyboard.press('i')
  await expect.poll(() => canary.asked.length - before).toBe(14)
  await page.reload()
  await view.article.getByRole('button', { name: /^Always/ }).click()
  before = canary.asked.length
  await page.reload()
  await expect(view.body.getByText('Twelve things we made.')).toBeVisible()
  await expect.poll(() => canary.asked.length - before).toBeGreaterThanOrEqual(14)
})

test('fact 14: white-on-indigo buttons are seen, Dark shows dark styles', async ({ browser, server, box, send }) => {
  const { context, page, view } = await person(browser, { colorScheme: null, baseURL: server.url })
  await send(reset('481920'))
  await page.goto(`/m/${box}`)
  await view.row('Reset your password').click()
  const button = view.body.locator('a.button')
  await expect(button).toBeVisible()
  await expect(button).toHaveCSS('background-color', 'rgb(79, 70, 229)')
  await expect(button).toHaveCSS('color', 'rgb(255, 255, 255)')
  await expect(view.body.locator('body')).toHaveCSS('background-color', 'rgb(255, 255, 255)')
  await view.choice('Dark').click()
  await expect(view.body.locator('body')).toHaveCSS('background-color', 'rgb(16, 16, 20)')
  await view.choice('Light').click()
  await expect(view.body.locator('body')).toHaveCSS('background-color', 'rgb(255, 255, 255)')
  for (const width of [360, 600, 768]) {
    await view.choice(String(width)).click()
    await expect.poll(async () => Math.round((await view.frame.boundingBox())?.width ?? 0)).toBe(width)
  }
  await context.close()
})

test('fact 15: the hostile mail shows its letters, nothing else', async ({ page, view, box, send, canary }) => {
  const evil = '<img src=x onerror="window.__pwned=1">'
  const before = canary.asked.length
  let dialogs = 0
  page.on('dialog', (dialog) => void (dialogs++, dialog.dismiss()))
  await send({
    subject: `Letters ${evil}`, from: `"${evil.replaceAll('"', "'")}" <a@shop.test>`, text: `Text ${evil} </script><script>window.__pwned=1</script>`,
    html: `<p>Read me</p><script>window.__pwned=1</script>${evil}<img src="http://one.canary.test:${canary.port}/x.png"><svg onload="window.__pwned=1"></svg>`,
    files: [{ type: 'text/plain', name: `"a<img src=x onerror='window.__pwned=1'>.txt"`, data: 'x' }],
  })
  await page.goto(`/m/${box}`)
  await expect(view.row('Letters <img src=x onerror=')).toBeVisible()
  await view.row('Letters').click()
  await expect(view.subject).toHaveText(`Letters ${evil}`)
  await expect(view.body.getByText('Read me')).toBeVisible()
  await view.tab('Text').click()
  await expect(view.article.getByText(`Text ${evil}`)).toBeVisible()
  await view.tab('Parts').click()
  await expect(view.article.getByText(/a<img src=x onerror='window.__pwned=1'>.txt/).first()).toBeVisible()
  for (const frame of page.frames()) expect(await frame.evaluate(() => '__pwned' in window)).toBe(false)
  expect([dialogs, canary.asked.length - before]).toEqual([0, 0])
})

const long = 'A very long subject that goes on '.repeat(7).slice(0, 200)
const odd = { rtl: 'طلبك رقم 20455 جاهز للاستلام', cjk: '您的验证码请在十分钟内使用 パスワードの再設定', emoji: '🎉👩‍👩‍👧‍👦🇦🇹🔥 done', long, tall: 'Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘', none: '' }

for (const [density, height] of [['comfortable', 56], ['compact', 32]] as const) {
  test(`fact 16: RTL, CJK, emoji and 200 letters keep the row height, ${density}`, async ({ page, view, box, send }) => {
    for (const [name, subject] of Object.entries(odd)) await send({ subject: subject || undefined, from: `"${subject || name}" <${name}@shop.test>`, text: subject })
    await page.addInitScript((value) => localStorage.setItem('postkeep.prefs', JSON.stringify({ density: value })), density)
    await page.goto(`/m/${box}`)
    await expect(view.rows).toHaveCount(Object.keys(odd).length)
    await expect(view.row(odd.rtl)).toBeVisible()
    const heights = await view.rows.evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height))
    expect(new Set(heights)).toEqual(new Set([height]))
    const spill = await view.rows.evaluateAll((rows) => rows.filter((row) => row.scrollHeight > row.clientHeight + 1 && getComputedStyle(row).overflow === 'visible').length)
    expect(spill, 'rows whose letters reach into another').toBe(0)
  })
}
