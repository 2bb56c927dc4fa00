// Node with Nodemailer, as a module that runs.
import { BODY, lines, PASSWORD, quoted, SUBJECT, USER, type Sample, type Target } from './sample'

export function nodemailer({ host, port, tls, auth, from, to }: Target): Sample {
  const text = lines(
    'import nodemailer from "nodemailer"',
    '',
    'const mail = nodemailer.createTransport({',
    `  host: ${quoted(host)}, port: ${port},`,
    tls === 'implicit' && '  secure: true,',
    tls !== 'none' && '  tls: { rejectUnauthorized: false },',
    auth === 'required' && `  auth: { user: ${quoted(USER)}, pass: ${quoted(PASSWORD)} },`,
    '})',
    'await mail.sendMail({',
    `  from: ${quoted(from)},`,
    `  to: ${quoted(to)},`,
    `  subject: ${quoted(SUBJECT)}, text: ${quoted(BODY)},`,
    '})',
  )
  return { label: 'Node', install: 'npm install nodemailer', blocks: [{ file: 'hello.mjs', text }] }
}
