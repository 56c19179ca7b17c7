import type { GuardName } from './page-guards.ts'

export interface PageEntry {
  // `/admin/{company}`: a parameter in braces stands for any segment
  path: string
  guard: GuardName
  // kB with brotli
  scriptBudget: number
  /** For search engines. Such a page needs a description. */
  isListed: boolean
  /** Whether the parameter `redirect` may name the page. */
  isReturnable: boolean
}

const parameters = /\{(\w+)\}/g

/**
 * The server does not start if a page has no file below `src/pages/[locale]`, or a file no page.
 */
export const pages = {
  home: page('/', 'none', 20, 'listed', 'returnable'),
  verify: page('/verify', 'none', 92.5, 'listed', 'returnable'),
  deposit: page('/deposit', 'signed-in', 92, 'returnable'),
  history: page('/history', 'signed-in', 97, 'returnable'),
  me: page('/me', 'signed-in', 91.5, 'returnable'),
  admin: page('/admin', 'admin', 125, 'returnable'),
  company: adminPage(''),
  createCompany: adminPage('/create/company', 'operator'),
  users: adminPage('/users'),
  createUser: adminPage('/create/user'),
  user: adminPage('/users/{user}'),
  groups: adminPage('/groups'),
  createGroup: adminPage('/create/group'),
  group: adminPage('/groups/{group}'),
  audit: adminPage('/audit'),
  categories: adminPage('/categories'),
  createCategory: adminPage('/create/category'),
  category: adminPage('/categories/{category}'),
  dataSources: adminPage('/data_sources'),
  createDataSource: adminPage('/create/data_source'),
  dataSource: adminPage('/data_sources/{data_source}'),
  importRegister: adminPage('/data_sources/{data_source}/import'),
  domains: adminPage('/domains'),
  createDomain: adminPage('/create/domain'),
  domain: adminPage('/domains/{domain}'),
  importUsers: adminPage('/users-import'),
  signIn: page('/sign-in', 'signed-out', 88, 'listed'),
  signUp: page('/sign-up', 'signed-out', 88, 'listed'),
  verifyAccount: page('/verify-account', 'none', 90),
  activateAccount: page('/activate-account', 'none', 88),
  resetPassword: page('/reset-password', 'none', 88),
  confirmEmail: page('/confirm-email', 'none', 88.5),
  setup: page('/setup', 'none', 94),
  disabled: page('/disabled', 'none', 20),
  docs: page('/docs', 'none', 20, 'listed', 'returnable'),
  docsCalls: page('/docs/calls', 'none', 20, 'listed', 'returnable'),
  docsErrors: page('/docs/errors', 'none', 20, 'listed', 'returnable')
}

export const notFoundPage: PageEntry = page('/404', 'none', 20)

export type PageName = keyof typeof pages

type ParameterOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never

const anySegment = '-'

const table = Object.values<PageEntry>(pages).map(page => ({ page, pattern: patternOf(page) }))

/** `/admin/7/groups` → the page `/admin/{company}/groups` */
export function findPage(path: string): PageEntry | undefined {
  return table.find(({ pattern }) => pattern.test(path))?.page
}

/** `groups`, `{ company: '7' }` → `/admin/7/groups` */
export function pagePath<Name extends PageName>(
  name: Name,
  params: Record<ParameterOf<(typeof pages)[Name]['path']>, string>
): string {
  const values = new Map<string, string>(Object.entries(params))
  return pages[name].path.replaceAll(parameters, (_, key) =>
    encodeURIComponent(values.get(key) ?? '')
  )
}

/**
 * `/admin/{company}` → `/admin/-`, one path for all values, so that invented addresses cannot fill
 * the cache
 */
export function renderedPathOf({ path }: PageEntry): string {
  return path.replaceAll(parameters, anySegment)
}

/** `/admin/{company}` → `/[locale]/admin/[company]` */
export function astroRouteOf({ path }: PageEntry): string {
  const rest = path === '/' ? '' : path
  return `/[locale]${rest.replaceAll(parameters, '[$1]')}`
}

/** `/[locale]/verify`, or `notFoundPage` for other routes. */
export function pageOfAstroRoute(route: string): PageEntry {
  return table.find(({ page }) => astroRouteOf(page) === route)?.page ?? notFoundPage
}

export function pathIfNoParameters(page: PageEntry): string | undefined {
  return page === notFoundPage || page.path.includes('{') ? undefined : page.path
}

function page<Path extends string>(
  path: Path,
  guard: GuardName,
  scriptBudget: number,
  ...marks: ('listed' | 'returnable')[]
) {
  const isListed = marks.includes('listed')
  const isReturnable = marks.includes('returnable')
  return { path, guard, scriptBudget, isListed, isReturnable }
}

function adminPage<Rest extends string>(rest: Rest, guard: 'admin' | 'operator' = 'admin') {
  return page(`/admin/{company}${rest}`, guard, 130, 'returnable')
}

function patternOf({ path }: PageEntry): RegExp {
  return new RegExp(`^${path.replaceAll(parameters, '[^/]+')}$`)
}
