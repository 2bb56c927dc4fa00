// Rails: the settings of the mailer, and a line that sends.
import { BODY, lines, PASSWORD, ruby, sh, SUBJECT, USER, type Sample, type Target } from './sample'

export function rails({ host, port, tls, auth, from, to }: Target): Sample {
  const settings = [
    `address: ${ruby(host)}`,
    `port: ${port}`,
    ...(tls === 'starttls' ? ['enable_starttls: true'] : tls === 'implicit' ? ['tls: true'] : []),
    ...(tls === 'none' ? [] : ['openssl_verify_mode: "none"']),
    ...(auth === 'required' ? [`user_name: ${ruby(USER)}`, `password: ${ruby(PASSWORD)}`, 'authentication: :plain'] : []),
  ]
  const text = lines(
    'Rails.application.configure do',
    '  config.action_mailer.delivery_method = :smtp',
    `  config.action_mailer.smtp_settings = { ${settings.join(', ')} }`,
    'end',
  )
  const send = `ActionMailer::Base.mail(from: ${ruby(from)}, to: ${ruby(to)}, subject: ${ruby(SUBJECT)}, body: ${ruby(BODY)}).deliver_now`
  return {
    label: 'Rails',
    install: null,
    blocks: [{ file: 'config/environments/development.rb', text }, { file: null, text: lines(`bin/rails runner ${sh(send)}`) }],
  }
}
