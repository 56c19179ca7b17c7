import { checkGuard, type Visitor } from '../../core/pages/page-guards.ts'
import { type PageName, pagePath, pages } from '../../core/pages/page-table.ts'
import { foldText, splitSearchIntoWords } from '../../core/text/search-words.ts'
import {
  type Locale,
  languageTag,
  localeNames,
  locales,
  localizedPath,
  type Translate
} from '../../i18n/index.ts'
import type { FoundItem } from '../../stores/company-search.ts'
import type { RecentCommand } from '../../stores/recent-commands.ts'

/** In the order of the palette. */
export const commandKinds = [
  'pages',
  'actions',
  'companies',
  'users',
  'groups',
  'categories',
  'domains'
] as const
type Kind = (typeof commandKinds)[number]

export interface Command {
  id: string
  kind: Kind
  label: string
  /** Such as the e-mail of a person. It is searched, too. */
  note?: string
  /** If the label is not in the language of the page. */
  lang?: string
  /** Absent for an action. */
  href?: string
  item?: FoundItem
}

export interface PaletteContext extends Visitor {
  locale: Locale
  features: readonly string[]
  /** Whose administration is open, or else the person's own. */
  company: string | undefined
  /** Whether anybody may sign up. */
  isPublic: boolean
}

interface PageCommand {
  page: PageName
  kind: Kind
  /** Which people get from their groups, such as `deposit`. */
  feature?: string
  /** In addition to what the page itself requires. */
  permission?: string
}

/**
 * In the order of the palette. Pages whose addresses contain other ids, such as that of a group,
 * are found by a search.
 */
export const pageCommands: readonly PageCommand[] = [
  { page: 'home', kind: 'pages' },
  { page: 'history', kind: 'pages' },
  { page: 'deposit', kind: 'pages', feature: 'deposit' },
  { page: 'verify', kind: 'pages' },
  { page: 'me', kind: 'pages' },
  { page: 'signIn', kind: 'pages' },
  { page: 'signUp', kind: 'pages' },
  { page: 'admin', kind: 'pages', permission: 'operator' },
  { page: 'company', kind: 'pages' },
  { page: 'users', kind: 'pages' },
  { page: 'groups', kind: 'pages' },
  { page: 'categories', kind: 'pages' },
  { page: 'dataSources', kind: 'pages' },
  { page: 'domains', kind: 'pages' },
  { page: 'audit', kind: 'pages' },
  { page: 'docs', kind: 'pages' },
  { page: 'createUser', kind: 'actions' },
  { page: 'importUsers', kind: 'actions' },
  { page: 'createGroup', kind: 'actions' },
  { page: 'createCategory', kind: 'actions' },
  { page: 'createDomain', kind: 'actions' },
  { page: 'createCompany', kind: 'actions' }
]

/** The commands that need no search. */
export function permittedCommands(opener: PaletteContext, t: Translate<string>): Command[] {
  return [...pagesFor(opener, t), ...actsFor(opener, t)]
}

function pagesFor(opener: PaletteContext, t: Translate<string>): Command[] {
  const { locale, company, features, isPublic } = opener
  const administration = t('palette.administration')
  return pageCommands.flatMap(({ page, kind, feature, permission }) => {
    const { guard, path } = pages[page]
    const isAdmin = path.includes('{company}')
    if (checkGuard(guard, opener) !== 'stay' || (feature && !features.includes(feature))) return []
    if (page === 'signUp' && !isPublic) return []
    if (permission && !opener.permissions?.includes(permission)) return []
    // nobody administers anything until it is known what the person may do
    if (isAdmin && (company === undefined || !opener.permissions)) return []
    // as: none of these pages has another parameter
    const href = localizedPath(locale, pagePath(page as 'company', { company: company ?? '' }))
    const note = isAdmin && kind === 'pages' ? { note: administration } : {}
    return [{ id: page, kind, label: t(`palette.pages.${page}`), href, ...note }]
  })
}

function actsFor(opener: PaletteContext, t: Translate<string>): Command[] {
  const { locale, isSignedIn, features } = opener
  const mayDeposit =
    checkGuard(pages.deposit.guard, opener) === 'stay' && features.includes('deposit')
  const act = (id: string, note?: string): Command => ({
    id,
    kind: 'actions',
    label: t(`palette.acts.${id}`),
    ...(note === undefined ? {} : { note })
  })
  const appearance = t('palette.appearance')
  return [
    act('verify-file'),
    ...(mayDeposit ? [act('deposit-file')] : []),
    ...(['system', 'light', 'dark'] as const).map(name => act(`scheme-${name}`, appearance)),
    ...locales
      .filter(other => other !== locale)
      .map(other => ({
        id: `language-${other}`,
        kind: 'actions' as const,
        label: localeNames[other],
        note: t('palette.language'),
        lang: languageTag(other)
      })),
    act('keys'),
    ...(isSignedIn ? [act('sign-out')] : [])
  ]
}

export function commandForItem(item: FoundItem, locale: Locale): Command {
  const { path, ...shown } = item
  return { ...shown, href: localizedPath(locale, path), item }
}

/** Those that open a found item, such as a group, are for administrators only. */
export function recentCommands(
  recent: readonly RecentCommand[],
  commands: readonly Command[],
  opener: PaletteContext
): Command[] {
  const isAdmin = checkGuard('admin', opener) === 'stay' && opener.permissions !== undefined
  return recent.flatMap(({ id, item }) => {
    if (item) return isAdmin ? [commandForItem(item, opener.locale)] : []
    return commands.filter(command => command.id === id)
  })
}

/**
 * All words of `text` must be in label or note. First come labels that begin with its first word,
 * then those in which another word does.
 */
export function matchingCommands(commands: readonly Command[], text: string): Command[] {
  const words = splitSearchIntoWords(text)
  const [first = ''] = words
  const rank = ({ label }: Command) => {
    const folded = foldText(label)
    return folded.startsWith(first) ? 0 : folded.includes(` ${first}`) ? 1 : 2
  }
  return commands
    .filter(({ label, note = '' }) => {
      const folded = foldText(`${label} ${note}`)
      return words.every(word => folded.includes(word))
    })
    .sort((a, b) => (first === '' ? 0 : rank(a) - rank(b)))
}
