// Words of the card of a mailbox.
export const card = {
  'entry.public': 'Anyone who knows the name can read its mail.',
  'entry.gone': (time: string) => `Mail is gone after ${time}.`,
  'entry.kept': 'Mail is kept until it is deleted.',
  'card.choose': 'Choose a message to read it here.',
  'card.address': 'Address',
  'card.smtp': 'Send mail to',
  'card.kept': 'Kept',
  'card.kept.for': (time: string) => `for ${time}`,
  'card.kept.ever': 'until it is deleted',
  'card.max': (count: string) => `the newest ${count} messages`,
  'card.phone': 'Open on a phone',
  'card.qr': (url: string) => `QR code of ${url}`,
}
