/**
 * Returns the link for a company's contact if it is an e-mail or an `https:` address, else
 * undefined: `'help@acme.fr'` → `'mailto:help@acme.fr'`
 */
export function contactLink(contact: string | undefined): string | undefined {
  if (contact === undefined || /[\s<>]/.test(contact)) return undefined
  if (/^https:\/\//.test(contact)) return URL.parse(contact)?.href
  return contact.includes('@') ? `mailto:${contact}` : undefined
}
