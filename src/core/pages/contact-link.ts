/** `'help@acme.fr'` → `'mailto:help@acme.fr'`. Other contacts than e-mails and https have none. */
export function contactLink(contact: string | undefined): string | undefined {
  if (contact === undefined || /[\s<>]/.test(contact)) return undefined
  if (/^https:\/\//.test(contact)) return URL.parse(contact)?.href
  return contact.includes('@') ? `mailto:${contact}` : undefined
}
