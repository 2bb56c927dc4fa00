// Mails as bytes: a small writer of MIME that keeps every letter it is given, so that hostile ones pass too. Sends nothing.

export interface Part {
  type: string
  /** With its quotes and escapes, as it stands behind `filename=`. */
  name?: string
  cid?: string
  inline?: boolean
  data: Buffer | string
  headers?: string[]
}

export interface Letter {
  from?: string
  to?: string
  cc?: string
  subject?: string
  date?: string
  text?: string
  html?: string
  related?: Part[]
  files?: Part[]
  /** Whole header lines, on top. */
  headers?: string[]
}

let boundaries = 0
let ids = 0

/** The whole message with its header. */
export function mail(letter: Letter): Buffer {
  const head = [
    ...(letter.headers ?? []), `From: ${letter.from ?? 'Acme Shop <shop@shop.test>'}`, `To: ${letter.to ?? 'Ben <ben@customers.test>'}`,
    ...(letter.cc ? [`Cc: ${letter.cc}`] : []), ...(letter.subject === undefined ? [] : [`Subject: ${letter.subject}`]),
    `Date: ${letter.date ?? new Date().toUTCString().replace('GMT', '+0000')}`, `Message-ID: <${++ids}.${Date.now()}@shop.test>`, 'MIME-Version: 1.0',
  ]
  return lines([...head, content(letter)])
}

function content(letter: Letter): string {
  const bodies = [
    ...(letter.text === undefined ? [] : [leaf({ type: 'text/plain; charset=utf-8', data: letter.text })]),
    ...(letter.html === undefined ? [] : [related(leaf({ type: 'text/html; charset=utf-8', data: letter.html }), letter.related ?? [])]),
  ]
  const body = bodies.length > 1 ? many('alternative', bodies) : (bodies[0] ?? leaf({ type: 'text/plain; charset=utf-8', data: '' }))
  return letter.files?.length ? many('mixed', [body, ...letter.files.map(leaf)]) : body
}

const related = (html: string, parts: Part[]): string => (parts.length ? many('related', [html, ...parts.map(leaf)]) : html)

function many(kind: string, parts: string[]): string {
  const edge = `edge-${++boundaries}`
  return [`Content-Type: multipart/${kind}; boundary="${edge}"`, '', ...parts.flatMap((part) => [`--${edge}`, part]), `--${edge}--`].join('\r\n')
}

function leaf(part: Part): string {
  const bytes = Buffer.isBuffer(part.data) ? part.data : Buffer.from(part.data)
  return [
    `Content-Type: ${part.type}`, 'Content-Transfer-Encoding: base64',
    ...(part.cid === undefined ? [] : [`Content-ID: <${part.cid}>`]),
    ...(part.name === undefined ? [] : [`Content-Disposition: ${part.inline ? 'inline' : 'attachment'}; filename=${part.name}`]),
    ...(part.headers ?? []), '', bytes.toString('base64').replace(/.{76}/g, '$&\r\n'),
  ].join('\r\n')
}

const lines = (head: string[]): Buffer => Buffer.from(head.join('\r\n') + '\r\n')

/** A picture of one point. */
export const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

/** What tests send most: a code, a button that is white on indigo, and words for both. */
export function reset(code: string, subject = 'Reset your password', host = 'auth.shop.test'): Letter {
  const link = `https://${host}/reset?token=${code}x9`
  return {
    from: 'Acme Accounts <no-reply@auth.shop.test>', subject,
    text: `Use this code: ${code}\r\n\r\nor open ${link} to reset your password.\r\n`,
    html: `<!doctype html><html><head><meta name="color-scheme" content="light dark"><style>
      .button { background: #4f46e5; color: #fff; padding: 12px 24px; border-radius: 6px; text-decoration: none }
      body { background: #ffffff; color: #111827 } @media (prefers-color-scheme: dark) { body { background: #101014; color: #eeeeee } }
      </style></head><body><h1>Reset your password</h1><p>Your verification code is <b>${code}</b></p><p><a class="button" href="${link}">Reset your password</a></p></body></html>`,
  }
}

/** A newsletter with 13 pictures and a pixel on two hosts, 14 requests when they are loaded. */
export function newsletter(hosts: readonly string[], port: number): Letter {
  const image = (n: number) => `<img src="http://${hosts[n % hosts.length]}:${port}/picture-${n}.png" width="200" height="100" alt="">`
  const pixel = `<img src="http://${hosts[0]}:${port}/open.gif" width="1" height="1" alt="">`
  return { from: 'Acme Weekly <weekly@shop.test>', subject: 'Acme Weekly: 12 things', text: 'Twelve things we made.', html: `<p>Twelve things we made.</p>${Array.from({ length: 13 }, (_, n) => image(n)).join('')}${pixel}` }
}
