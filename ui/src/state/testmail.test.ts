// The test mail: what makes it worth looking at, and that a host stays a host.
import { expect, it } from 'vitest'
import { testMail } from './testmail'

it('has a code, a button and an image of its own', () => {
  const mail = testMail('ben@example.com', '481920', '<b>"x"</b>')
  expect(mail.to).toEqual(['ben@example.com'])
  expect(mail.text).toContain('Your code is 481920.')
  expect(mail.html).toContain('cid:mark@postkeep')
  expect(mail.html).toContain('https://example.com/verify?code=481920')
  expect(mail.html).not.toContain('<b>"x"')
  const bytes = Uint8Array.from(atob(mail.attachments?.[0]?.content ?? ''), (letter) => letter.charCodeAt(0))
  expect([...bytes.slice(1, 4)]).toEqual([0x50, 0x4e, 0x47])
})
