// Compose: the environment an application in a container gets, in a service that sends once and ends.
import { authority, BODY, lines, PASSWORD, quoted, sh, SUBJECT, USER, type Sample, type Target } from './sample'

const OWN = /^(localhost|127\.|::1$)/

export function compose(target: Target): Sample {
  const { host, port, tls, auth, from, to } = target
  const words = [
    `curl -sS ${sh(`${tls === 'implicit' ? 'smtps' : 'smtp'}://${authority(target)}`)}`,
    tls === 'starttls' ? '--ssl-reqd --insecure' : tls === 'implicit' ? '--insecure' : '',
    auth === 'required' ? `--user ${sh(`${USER}:${PASSWORD}`)}` : '',
    `--mail-from ${sh(from)} --mail-rcpt ${sh(to)} -T -`,
  ]
  const mail = ['From: ' + from, 'To: ' + to, 'Subject: ' + SUBJECT, '', BODY].map(sh).join(' ')
  const send = `printf '%s\\r\\n' ${mail} | ${words.filter(Boolean).join(' ')}`
  const text = lines(
    'services:',
    '  app:',
    '    image: curlimages/curl # and here yours',
    OWN.test(host) && '    network_mode: host # the server is reached on this machine only',
    '    environment:',
    `      SMTP_HOST: ${quoted(host)}`,
    `      SMTP_PORT: "${port}"`,
    auth === 'required' && `      SMTP_USER: ${quoted(USER)}`,
    auth === 'required' && `      SMTP_PASSWORD: ${quoted(PASSWORD)}`,
    // A dollar sign is Compose's own unless it is doubled.
    `    command: ["sh", "-c", ${quoted(send.replaceAll('$', '$$$$'))}]`,
  )
  return { label: 'Compose', install: null, blocks: [{ file: 'compose.yaml', text }, { file: null, text: 'docker compose up\n' }] }
}
