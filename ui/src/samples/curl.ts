// curl: one command, on every machine.
import { authority, BODY, lines, PASSWORD, sh, SUBJECT, USER, type Sample, type Target } from './sample'

export function curl(target: Target): Sample {
  const { tls, auth, from, to } = target
  const words = [
    `curl ${sh(`${tls === 'implicit' ? 'smtps' : 'smtp'}://${authority(target)}`)}`,
    tls === 'starttls' ? '--ssl-reqd --insecure' : tls === 'implicit' ? '--insecure' : '',
    auth === 'required' ? `--user ${sh(`${USER}:${PASSWORD}`)}` : '',
    `--mail-from ${sh(from)}`,
    `--mail-rcpt ${sh(to)}`,
    '--crlf -T -',
  ]
  const text = lines(
    `${words.filter(Boolean).join(' \\\n  ')} <<'MAIL'`,
    `From: ${from}`,
    `To: ${to}`,
    `Subject: ${SUBJECT}`,
    '',
    BODY,
    'MAIL',
  )
  return { label: 'curl', install: null, blocks: [{ file: null, text }] }
}
