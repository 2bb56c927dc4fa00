// Go with nothing but its own library, which turns to TLS only where it can check the certificate; so the longer way where there is TLS.
import { BODY, lines, PASSWORD, quoted, SUBJECT, USER, type Sample, type Target } from './sample'

export function go(target: Target): Sample {
  const { tls, from, to } = target
  const text = lines(
    'package main',
    '',
    'import (',
    tls !== 'none' && '\t"crypto/tls"',
    '\t"log"',
    '\t"net/smtp"',
    ')',
    '',
    'func main() {',
    `\tfrom, to := ${quoted(from)}, ${quoted(to)}`,
    `\tmail := []byte("From: " + from + "\\r\\nTo: " + to + "\\r\\nSubject: ${SUBJECT}\\r\\n\\r\\n${BODY}\\r\\n")`,
    ...(tls === 'none' ? simply(target) : secured(target)),
    '}',
  )
  return { label: 'Go', install: null, blocks: [{ file: 'main.go', text }] }
}

const address = ({ host, port }: Target) => quoted(host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)
const signature = ({ host, auth }: Target) => (auth === 'required' ? `smtp.PlainAuth("", ${quoted(USER)}, ${quoted(PASSWORD)}, ${quoted(host)})` : 'nil')

function simply(target: Target): string[] {
  return [
    `\tif err := smtp.SendMail(${address(target)}, ${signature(target)}, from, []string{to}, mail); err != nil {`,
    '\t\tlog.Fatal(err)',
    '\t}',
  ]
}

function secured(target: Target): string[] {
  const { host, tls, auth } = target
  const must = (deed: string) => [`\tif err := ${deed}; err != nil {`, '\t\tlog.Fatal(err)', '\t}']
  const given = ['\tif err != nil {', '\t\tlog.Fatal(err)', '\t}']
  const met = tls === 'implicit'
    ? [`\tconn, err := tls.Dial("tcp", ${address(target)}, config)`, ...given, `\tserver, err := smtp.NewClient(conn, ${quoted(host)})`, ...given]
    : [`\tserver, err := smtp.Dial(${address(target)})`, ...given, ...must('server.StartTLS(config)')]
  return [
    `\tconfig := &tls.Config{ServerName: ${quoted(host)}, InsecureSkipVerify: true}`,
    ...met,
    ...(auth === 'required' ? must(`server.Auth(${signature(target)})`) : []),
    ...must('server.Mail(from)'),
    ...must('server.Rcpt(to)'),
    '\tbody, err := server.Data()',
    ...given,
    '\tbody.Write(mail)',
    ...must('body.Close()'),
    '\tserver.Quit()',
  ]
}
