import type { ListedCompany } from '../../contract/companies.ts'
import type { CategoryDetails } from '../../contract/company-categories.ts'
import type { DataSource } from '../../contract/data-sources.ts'
import type { Group } from '../../contract/groups.ts'
import type { Member } from '../../contract/members.ts'
import { callAdminApi, companyIdOfPage } from './admin-api.ts'

// each returns at most eight items: for an empty text, the first of its list

export function findPeople(text: string): Promise<Member[]> {
  return callAdminApi('listUsers', queryOf(text))
}

export function findGroups(text: string): Promise<Group[]> {
  return callAdminApi('listGroups', queryOf(text))
}

export function findCategories(text: string): Promise<CategoryDetails[]> {
  return callAdminApi('listCompanyCategories', queryOf(text))
}

export function findDataSources(text: string): Promise<DataSource[]> {
  return callAdminApi('listDataSources', queryOf(text))
}

// all but the company of the page
export async function findCompanies(text: string): Promise<ListedCompany[]> {
  const { id: present, ...query } = queryOf(text)
  const found = await callAdminApi('listCompanies', query)
  return found.filter(({ id }) => id !== present)
}

function queryOf(text: string) {
  return { id: companyIdOfPage(), q: text || undefined, limit: 8 }
}
