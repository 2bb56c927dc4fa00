// swaks: the tool for trying mail servers.
import { BODY, lines, PASSWORD, sh, SUBJECT, USER, type Sample, type Target } from './sample'

export function swaks({ host, port, tls, auth, from, to }: Target): Sample {
  const words = [
    `swaks --server ${sh(host)} --port ${port}`,
    tls === 'starttls' ? '--tls' : tls === 'implicit' ? '--tls-on-connect' : '',
    auth === 'required' ? `--auth-user ${sh(USER)} --auth-password ${sh(PASSWORD)}` : '',
    `--from ${sh(from)} --to ${sh(to)}`,
    `--header ${sh(`Subject: ${SUBJECT}`)} --body ${sh(BODY)}`,
  ]
  return { label: 'swaks', install: null, blocks: [{ file: null, text: lines(words.filter(Boolean).join(' \\\n  ')) }] }
}
