// Python with nothing but its own library.
import { BODY, lines, PASSWORD, quoted, SUBJECT, USER, type Sample, type Target } from './sample'

export function python({ host, port, tls, auth, from, to }: Target): Sample {
  const text = lines(
    'import smtplib',
    'from email.message import EmailMessage',
    '',
    'mail = EmailMessage()',
    `mail["From"] = ${quoted(from)}`,
    `mail["To"] = ${quoted(to)}`,
    `mail["Subject"] = ${quoted(SUBJECT)}`,
    `mail.set_content(${quoted(BODY)})`,
    '',
    `with smtplib.${tls === 'implicit' ? 'SMTP_SSL' : 'SMTP'}(${quoted(host)}, ${port}) as server:`,
    tls === 'starttls' && '    server.starttls()',
    auth === 'required' && `    server.login(${quoted(USER)}, ${quoted(PASSWORD)})`,
    '    server.send_message(mail)',
  )
  return { label: 'Python', install: null, blocks: [{ file: 'hello.py', text }] }
}
