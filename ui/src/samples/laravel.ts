// Laravel: the environment, and a line that sends.
import { BODY, lines, PASSWORD, php, quoted, sh, SUBJECT, USER, type Sample, type Target } from './sample'

export function laravel({ host, port, tls, auth, from, to }: Target): Sample {
  const environment = lines(
    'MAIL_MAILER=smtp',
    `MAIL_SCHEME=${tls === 'implicit' ? 'smtps' : 'smtp'}`,
    `MAIL_HOST=${quoted(host)}`,
    `MAIL_PORT=${port}`,
    `MAIL_USERNAME=${auth === 'required' ? quoted(USER) : 'null'}`,
    `MAIL_PASSWORD=${auth === 'required' ? quoted(PASSWORD) : 'null'}`,
    `MAIL_FROM_ADDRESS=${quoted(from)}`,
  )
  const send = `Mail::raw(${php(BODY)}, fn ($mail) => $mail->to(${php(to)})->subject(${php(SUBJECT)}));`
  return {
    label: 'Laravel',
    install: null,
    blocks: [{ file: '.env', text: environment }, { file: null, text: lines(`php artisan tinker --execute=${sh(send)}`) }],
  }
}
