import type {
  Domain,
  DomainDetails,
  DomainThemes,
  Theme,
  ThemeChanges
} from '../../contract/domains.ts'
import { createListStore } from '../lists/lists.ts'
import type { CallInput } from '../sessions.ts'
import { callAdminApi, companyIdOfPage } from './admin-api.ts'
import { createShownItem } from './shown-item.ts'

export type DomainChanges = Omit<CallInput<'updateDomain'>, 'id' | 'theme'>

export const domainSortKeys = ['host', '-host', 'created', '-created'] as const

export interface DomainQuery {
  q?: string
  state?: Domain['state']
  sort?: (typeof domainSortKeys)[number]
}

/** The domains of a company. `open()` takes the id of the company. */
export const domainList = createListStore<Domain, DomainQuery>((query, page, company) =>
  callAdminApi('listDomains', { id: company, ...page, ...query })
)

const domain = createShownItem<DomainDetails>(id => callAdminApi('getDomain', { id }))
const themes = createShownItem<DomainThemes>(id => callAdminApi('getDomainThemes', { id }))

/** The domain that the page shows. */
export const $domain = domain.$item
/** The themes of the domain that the page shows. */
export const $themes = themes.$item

/**
 * Loads a domain and shows it. Returns false if loading fails or if the page has opened another
 * domain meanwhile.
 */
export const openDomain = domain.open

/** Loads a domain again and shows its present state, or that it no longer exists. */
export const reloadDomain = domain.reload

/** Adds a domain to the company and returns it. `key` is the idempotency key. */
export function createDomain(
  input: CallInput<'createDomain'>,
  key: string
): Promise<DomainDetails> {
  return callAdminApi('createDomain', input, { idempotencyKey: key })
}

/** Returns the company's domain with this host, or undefined if there is none. */
export async function findDomain(host: string): Promise<Domain | undefined> {
  // the API accepts at most 100 characters
  const query = { q: host.slice(0, 100), limit: 200 }
  const found = await callAdminApi('listDomains', { id: companyIdOfPage(), ...query })
  return found.find(each => each.host === host)
}

/** Returns whether a company has no verified domain besides wildcards and `localhost` names. */
export async function isServedAtLocalhostOnly(company: string): Promise<boolean> {
  const served = await callAdminApi('listDomains', { id: company, state: 'verified', limit: 200 })
  return served.every(({ host }) => host.startsWith('*') || /(?:^|\.)localhost$/.test(host))
}

/**
 * Changes a domain if it still has the version that the person has seen. Otherwise throws
 * `changed_meanwhile`.
 */
export async function updateDomain(
  id: string,
  changes: DomainChanges,
  version: number
): Promise<void> {
  await domain.change(id, () => callAdminApi('updateDomain', { ...changes, id }, { version }))
}

/**
 * Makes the server look up the DNS record that proves the company's control of a domain. Shows the
 * domain with the result.
 */
export function checkDomain(id: string): Promise<DomainDetails> {
  return domain.change(id, () => callAdminApi('checkDomain', { id }))
}

/**
 * Makes a domain the company's primary one and shows it. By default, links in mails lead to the
 * primary domain.
 */
export function makeDomainPrimary(id: string): Promise<DomainDetails> {
  return domain.change(id, () => callAdminApi('makeDomainPrimary', { id }))
}

/** Moves a domain to another company. Returns the domain, which then belongs to that company. */
export function moveDomainToCompany(id: string, company_id: string): Promise<DomainDetails> {
  return callAdminApi('moveDomainToCompany', { id, company_id })
}

export async function deleteDomain({ id, version }: Domain): Promise<void> {
  await callAdminApi('deleteDomain', { id }, { version })
}

/** Loads the themes of a domain and shows them. */
export const openThemes = themes.open

/** Loads the themes of a domain again and shows them. */
export const reloadThemes = themes.reload

export interface EditedTheme extends Omit<Theme, 'logo_dark'> {
  /** The logo for dark mode. `null`: the same as `logo`. */
  logo_dark: string | null
  version: number
}

/** Returns the theme to edit: the draft or, if there is none, the published theme. */
export function themeToEdit({ draft, published, version }: DomainThemes): EditedTheme {
  const { theme } = draft ?? published
  return { ...theme, logo_dark: theme.logo_dark ?? null, version }
}

/**
 * Saves the draft of a domain's theme. Throws `changed_meanwhile` if the domain's themes no longer
 * have the version `version`, and `svg_refused` if a picture is an SVG with forbidden parts.
 */
export async function saveThemeDraft(
  id: string,
  changes: ThemeChanges,
  version: number
): Promise<void> {
  await themes.change(id, () => callAdminApi('saveThemeDraft', { ...changes, id }, { version }))
}

/** Deletes the draft of a domain's theme and shows the remaining themes. */
export async function deleteThemeDraft(id: string, version: number): Promise<void> {
  await callAdminApi('deleteThemeDraft', { id }, { version })
  await themes.reload(id)
}

/** Publishes the draft of a domain's theme: the pages show it from now on. */
export function publishThemeDraft(id: string, version: number): Promise<DomainThemes> {
  return themes.change(id, () => callAdminApi('publishTheme', { id }, { version }))
}

/**
 * Publishes the domain's earlier theme with the number `themeNumber` again. Throws
 * `changed_meanwhile` if the themes no longer have the version `expectedVersion`. If that is
 * undefined, publishes without this check.
 */
export function publishEarlierTheme(
  id: string,
  themeNumber: number,
  expectedVersion?: number
): Promise<DomainThemes> {
  const options = expectedVersion === undefined ? {} : { version: expectedVersion }
  return themes.change(id, () =>
    callAdminApi('publishEarlierTheme', { id, number: themeNumber }, options)
  )
}
