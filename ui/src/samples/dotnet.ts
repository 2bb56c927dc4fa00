// .NET with MailKit.
import { BODY, lines, PASSWORD, quoted, SUBJECT, USER, type Sample, type Target } from './sample'

const SECURITY = { none: 'None', starttls: 'StartTls', implicit: 'SslOnConnect' }

export function dotnet({ host, port, tls, auth, from, to }: Target): Sample {
  const text = lines(
    'using MailKit.Net.Smtp;',
    'using MailKit.Security;',
    'using MimeKit;',
    '',
    'var mail = new MimeMessage();',
    `mail.From.Add(MailboxAddress.Parse(${quoted(from)}));`,
    `mail.To.Add(MailboxAddress.Parse(${quoted(to)}));`,
    `mail.Subject = ${quoted(SUBJECT)};`,
    `mail.Body = new TextPart("plain") { Text = ${quoted(BODY)} };`,
    '',
    'using var smtp = new SmtpClient();',
    tls !== 'none' && 'smtp.ServerCertificateValidationCallback = (_, _, _, _) => true;',
    `await smtp.ConnectAsync(${quoted(host)}, ${port}, SecureSocketOptions.${SECURITY[tls]});`,
    auth === 'required' && `await smtp.AuthenticateAsync(${quoted(USER)}, ${quoted(PASSWORD)});`,
    'await smtp.SendAsync(mail);',
    'await smtp.DisconnectAsync(true);',
  )
  return { label: '.NET', install: 'dotnet add package MailKit', blocks: [{ file: 'Program.cs', text }] }
}
