// The mail that "Send a test mail" brings: a code, a button and an inline image, so that all of the page is seen at work. Pure.
import type { components } from '../api/schema'

export type Delivery = components['schemas']['DeliverRequest']

/** The mark, 48 px. */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAADAAAAAwCAMAAABg3Am1AAAACVBMVEX///8La13////Dre6vAAAAA3RSTlMA//9EUNYhAAAAfElEQVR42u3W0QqAMAgFUK//' +
  '/9FBEIWpeJdtPXQfzQNrDFRkDwqRMyiG7T8EwAmAFCwAmdlA3YRAw6wCt+O69Zkg6jdfxoHmQH1gL9EptgDNas+A+UO91kIA5xU1A+fk3SB/Gz+gQZYFALV+' +
  'fHGgvD9F+cHOrw78ckKtPxtsVgrLoy2rxAAAAABJRU5ErkJggg=='

/** `code` is six digits. */
export function testMail(to: string, code: string, server: string): Delivery {
  const link = `https://example.com/verify?code=${code}`
  return {
    from: 'Postkeep <postkeep@example.com>',
    to: [to],
    subject: `Test mail: your code is ${code}`,
    text: `This test mail came from the page of ${server}.\n\nYour code is ${code}.\n\nConfirm your e-mail address: ${link}\n`,
    html: html(code, link, server),
    attachments: [{ name: 'postkeep.png', type: 'image/png', content: PICTURE, cid: 'mark@postkeep' }],
  }
}

const html = (code: string, link: string, server: string): string => `<!doctype html>
<html lang="en">
<body style="margin:0;padding:32px;font-family:system-ui,sans-serif;color:#17201d;background:#ffffff">
<img src="cid:mark@postkeep" width="48" height="48" alt="Postkeep">
<h1 style="font-size:24px">It works</h1>
<p>This test mail came from the page of ${escaped(server)}.</p>
<p>Your code is <b style="font-size:24px;letter-spacing:4px">${code}</b></p>
<p><a href="${link}" style="display:inline-block;padding:12px 24px;border-radius:6px;background:#0b6b5d;color:#ffffff;text-decoration:none">Confirm your e-mail address</a></p>
<p style="color:#5f6b67">Nothing happens when you press it: example.com belongs to nobody.</p>
</body>
</html>
`

const escaped = (text: string): string => text.replace(/[&<>"']/g, (letter) => `&#${letter.codePointAt(0)};`)
