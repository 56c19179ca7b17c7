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

export const domainList = createListStore<Domain, DomainQuery>((query, page, company) =>
  callAdminApi('listDomains', { id: company, ...page, ...query })
)

const domain = createShownItem<DomainDetails>(id => callAdminApi('getDomain', { id }))
const themes = createShownItem<DomainThemes>(id => callAdminApi('getDomainThemes', { id }))

export const $domain = domain.$item
export const $themes = themes.$item

export const openDomain = domain.open

export const reloadDomain = domain.reload

/** `key` is the idempotency key. */
export function createDomain(
  input: CallInput<'createDomain'>,
  key: string
): Promise<DomainDetails> {
  return callAdminApi('createDomain', input, { idempotencyKey: key })
}

export async function findDomain(host: string): Promise<Domain | undefined> {
  // the API accepts at most 100 characters
  const query = { q: host.slice(0, 100), limit: 200 }
  const found = await callAdminApi('listDomains', { id: companyIdOfPage(), ...query })
  return found.find(each => each.host === host)
}

/** Whether the company has no verified domain besides wildcards and `localhost` names. */
export async function isServedAtLocalhostOnly(company: string): Promise<boolean> {
  const served = await callAdminApi('listDomains', { id: company, state: 'verified', limit: 200 })
  return served.every(({ host }) => host.startsWith('*') || /(?:^|\.)localhost$/.test(host))
}

/** Throws `changed_meanwhile` if the domain does not have this version any more. */
export async function updateDomain(
  id: string,
  changes: DomainChanges,
  version: number
): Promise<void> {
  await domain.change(id, () => callAdminApi('updateDomain', { ...changes, id }, { version }))
}

export function checkDomain(id: string): Promise<DomainDetails> {
  return domain.change(id, () => callAdminApi('checkDomain', { id }))
}

export function makeDomainPrimary(id: string): Promise<DomainDetails> {
  return domain.change(id, () => callAdminApi('makeDomainPrimary', { id }))
}

export function moveDomainToCompany(id: string, company_id: string): Promise<DomainDetails> {
  return callAdminApi('moveDomainToCompany', { id, company_id })
}

export async function deleteDomain({ id, version }: Domain): Promise<void> {
  await callAdminApi('deleteDomain', { id }, { version })
}

export const openThemes = themes.open

export const reloadThemes = themes.reload

export interface EditedTheme extends Omit<Theme, 'logo_dark'> {
  /** `null`: the same as `logo`. */
  logo_dark: string | null
  version: number
}

export function themeToEdit({ draft, published, version }: DomainThemes): EditedTheme {
  const { theme } = draft ?? published
  return { ...theme, logo_dark: theme.logo_dark ?? null, version }
}

/** Throws `changed_meanwhile`, and `svg_refused` if a picture has forbidden parts. */
export async function saveThemeDraft(
  id: string,
  changes: ThemeChanges,
  version: number
): Promise<void> {
  await themes.change(id, () => callAdminApi('saveThemeDraft', { ...changes, id }, { version }))
}

export async function deleteThemeDraft(id: string, version: number): Promise<void> {
  await callAdminApi('deleteThemeDraft', { id }, { version })
  await themes.reload(id)
}

export function publishThemeDraft(id: string, version: number): Promise<DomainThemes> {
  return themes.change(id, () => callAdminApi('publishTheme', { id }, { version }))
}

/** With an `expectedVersion`, throws `changed_meanwhile` if the themes have another one. */
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
