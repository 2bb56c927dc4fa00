// Rust with lettre.
import { BODY, lines, PASSWORD, quoted, SUBJECT, USER, type Sample, type Target } from './sample'

export function rust({ host, port, tls, auth, from, to }: Target): Sample {
  const kind = tls === 'implicit' ? 'Wrapper' : 'Required'
  const text = lines(
    auth === 'required' && 'use lettre::transport::smtp::authentication::Credentials;',
    tls !== 'none' && 'use lettre::transport::smtp::client::{Tls, TlsParameters};',
    'use lettre::{Message, SmtpTransport, Transport};',
    '',
    'fn main() -> Result<(), Box<dyn std::error::Error>> {',
    '    let mail = Message::builder()',
    `        .from(${quoted(from)}.parse()?)`,
    `        .to(${quoted(to)}.parse()?)`,
    `        .subject(${quoted(SUBJECT)})`,
    `        .body(String::from(${quoted(BODY)}))?;`,
    tls !== 'none' && `    let tls = TlsParameters::builder(${quoted(host)}.into()).dangerous_accept_invalid_certs(true).build()?;`,
    `    let server = SmtpTransport::builder_dangerous(${quoted(host)})`,
    `        .port(${port})`,
    tls !== 'none' && `        .tls(Tls::${kind}(tls))`,
    auth === 'required' && `        .credentials(Credentials::new(${quoted(USER)}.into(), ${quoted(PASSWORD)}.into()))`,
    '        .build();',
    '    server.send(&mail)?;',
    '    Ok(())',
    '}',
  )
  const install = tls === 'none' ? 'cargo add lettre --no-default-features --features builder,smtp-transport' : 'cargo add lettre'
  return { label: 'Rust', install, blocks: [{ file: 'src/main.rs', text }] }
}
