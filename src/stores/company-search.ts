import { pagePath } from '../core/pages/page-table.ts'
import { personName } from '../core/text/person-name.ts'
import type { Locale } from '../i18n/index.ts'
import { api } from './sessions.ts'

/** `path` has no language in front. */
export interface FoundItem {
  kind: 'companies' | 'users' | 'groups' | 'categories' | 'domains'
  id: string
  label: string
  note?: string
  path: string
}

interface SearchOptions {
  company: string
  locale: Locale
  isOperator: boolean
  signal: AbortSignal
}

const mostFound = 5
// what the API accepts
const searchable = /^[^\p{Cc}\p{Cs}]{1,100}$/u

/** At most five of each kind: people, groups, categories, domains and, for operators, companies. */
export async function searchInCompany(
  text: string,
  { company, locale, isOperator, signal }: SearchOptions
): Promise<FoundItem[]> {
  if (!searchable.test(text)) return []
  const query = { id: company, q: text, limit: mostFound }
  const options = { company, signal }
  const [companies, users, groups, categories, domains] = await Promise.all([
    isOperator ? api('listCompanies', { q: text, limit: mostFound }, { signal }) : [],
    api('listUsers', query, options),
    api('listGroups', query, options),
    api('listCompanyCategories', query, options),
    api('listDomains', query, options)
  ])
  return [
    ...companies.map(({ id, name }) =>
      item('companies', id, name, pagePath('company', { company: id }))
    ),
    ...users.map(({ id, username, email }) => ({
      ...item(
        'users',
        id,
        personName({ username, email }),
        pagePath('user', { company, user: id })
      ),
      ...(username ? { note: email } : {})
    })),
    ...groups.map(({ id, name }) =>
      item('groups', id, name, pagePath('group', { company, group: id }))
    ),
    ...categories.map(({ id, names }) =>
      item('categories', id, names[locale], pagePath('category', { company, category: id }))
    ),
    ...domains.map(({ id, host }) =>
      item('domains', id, host, pagePath('domain', { company, domain: id }))
    )
  ]
}

function item(kind: FoundItem['kind'], id: string, label: string, path: string): FoundItem {
  return { kind, id, label, path }
}
