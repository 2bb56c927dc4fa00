// Words of the field: going to a mailbox, searching, and searches that are not understood.
export const field = {
  'field': 'Go to a mailbox, or search mail',
  'field.offers': 'What can be done with it',
  'field.clear': 'Clear the field',
  'field.count': (count: number) => (count === 1 ? '1 suggestion' : `${count} suggestions`),
  'offer.open': (mailbox: string) => `Open mailbox ${mailbox}`,
  'offer.search': (q: string) => `Search mail for ${q}`,
  'offer.in': (mailbox: string) => `in ${mailbox}`,
  'offer.in.all': 'in all mailboxes',
  'search.bad': 'This search cannot be read',
  'search.nearest': (q: string) => `Search for ${q}`,
  'search.none': (q: string, where: string) => `No mail in ${where} matches ${q}.`,
  'search.all': 'Search all mailboxes',
  'search.everywhere': 'all mailboxes',
}
