// Django: settings, and the command that tries them.
import { lines, PASSWORD, quoted, sh, USER, type Sample, type Target } from './sample'

export function django({ host, port, tls, auth, from, to }: Target): Sample {
  const settings = lines(
    `EMAIL_HOST = ${quoted(host)}`,
    `EMAIL_PORT = ${port}`,
    tls === 'starttls' && 'EMAIL_USE_TLS = True',
    tls === 'implicit' && 'EMAIL_USE_SSL = True',
    auth === 'required' && `EMAIL_HOST_USER = ${quoted(USER)}`,
    auth === 'required' && `EMAIL_HOST_PASSWORD = ${quoted(PASSWORD)}`,
    `DEFAULT_FROM_EMAIL = ${quoted(from)}`,
  )
  return {
    label: 'Django',
    install: null,
    blocks: [{ file: 'settings.py', text: settings }, { file: null, text: lines(`python manage.py sendtestemail ${sh(to)}`) }],
  }
}
