import type { Fault } from './validators.ts'

const maxLength = 253
const maxLabelLength = 63

export type IsTopLevel = (label: string) => boolean

/** Refuses `localhost`. */
export function isDomainName(text: string, isTopLevel: IsTopLevel): boolean {
  if (text.length > maxLength) return false
  const labels = text.toLowerCase().split('.')
  const last = labels.at(-1) ?? ''
  return labels.length > 1 && labels.every(isLabel) && isTopLevel(last)
}

/** A `*` in the pattern stands for one label: `docs.acme.fr` matches `*.acme.fr`. */
export function matchesDomainPattern(
  text: string,
  pattern: string,
  isTopLevel: IsTopLevel
): boolean {
  if (!isDomainName(text, isTopLevel)) return false
  const labels = text.toLowerCase().split('.')
  const wanted = pattern.toLowerCase().split('.')
  return (
    labels.length === wanted.length &&
    wanted.every((label, at) => label === '*' || label === labels[at])
  )
}

export function isWildcardDomain(text: string, isTopLevel: IsTopLevel): boolean {
  // the name must still fit when a label takes the place of the star
  return text.startsWith('*.') && isDomainName(`a.${text.slice(2)}`, isTopLevel)
}

/** Whether a partly typed text can still begin with `requiredStart`: `doc` with `docs.` → true */
export function canBecomeDomain(text: string, requiredStart: string): boolean {
  const [typed, wanted] = [text.toLowerCase(), requiredStart.toLowerCase()]
  if (!typed.startsWith(wanted.slice(0, typed.length))) return false
  return typed.split('.').every(label => label === '' || isLabelStart(label))
}

/** Returns lower case and ASCII: ` https://Dépôt.fr/` → `xn--dpt-1caq.fr` */
export function normalizeTypedHost(text: string): string {
  const [name = ''] = text
    .trim()
    .replace(/^https?:\/\//i, '')
    .split(/[/?#:]/)
  const host = name.replace(/\.$/, '').toLowerCase()
  if (/^[\0-\x7f]*$/.test(host)) return host
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : host
}

/** Accepts domain names, wildcard domains and an empty text. */
export function hostFault(host: string, isTopLevel: IsTopLevel): Fault | undefined {
  if (host === '') return undefined
  if (host.length > maxLength) return { rule: 'max', limit: maxLength }
  const [first = '', ...others] = host.split('.')
  const labels = first === '*' ? others : [first, ...others]
  if (labels.some(label => label.includes('*'))) return { rule: 'host_star' }
  if (labels.length === 0 || labels.includes('')) return { rule: 'host_dots' }
  for (const label of labels) {
    if (label.length > maxLabelLength) return { rule: 'host_label', limit: maxLabelLength }
    if (/^-|-$/.test(label)) return { rule: 'host_hyphen', limit: label }
    if (!isLabel(label)) return { rule: 'host_characters' }
  }
  if (labels[0] === 'api' && labels.length > 1) return { rule: 'host_api' }
  const last = labels.at(-1) ?? ''
  if (labels.length === 1 && !isTopLevel(last)) return { rule: 'host_dots' }
  if (!isTopLevel(last)) return { rule: 'host_top_level', limit: last }
  if (labels.length === 1) return { rule: 'host_suffix', limit: last }
  return undefined
}

function isLabel(label: string): boolean {
  return isLabelStart(label) && !label.endsWith('-')
}

function isLabelStart(label: string): boolean {
  return /^[a-z0-9][a-z0-9-]*$/.test(label) && label.length <= maxLabelLength
}
