// Symfony: the address of the mailer, and the command that tries it.
import { authority, BODY, lines, PASSWORD, sh, SUBJECT, USER, type Sample, type Target } from './sample'

export function symfony(target: Target): Sample {
  const { tls, auth, from, to } = target
  const user = auth === 'required' ? `${USER}:${PASSWORD}@` : ''
  const dsn = `${tls === 'implicit' ? 'smtps' : 'smtp'}://${user}${authority(target)}${tls === 'none' ? '' : '?verify_peer=0'}`
  const send = `php bin/console mailer:test ${sh(to)} --from=${sh(from)} --subject=${sh(SUBJECT)} --body=${sh(BODY)}`
  return {
    label: 'Symfony',
    install: 'composer require symfony/mailer',
    blocks: [{ file: '.env.local', text: lines(`MAILER_DSN=${dsn}`) }, { file: null, text: lines(send) }],
  }
}
