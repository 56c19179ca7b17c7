import type { Colors, DomainThemes } from '../../contract/domains.ts'
import { fieldLabel } from '../../i18n/field-label.ts'
import type { Locale, Translate } from '../../i18n/index.ts'
import { type EditedTheme, themeToEdit } from '../../stores/admin/domains.ts'

export type ThemePart = (typeof themeParts)[number]
const themePictures = ['logo', 'logo_dark', 'favicon'] as const
export const themeParts = ['colors', ...themePictures] as const

// in the order of the editor, which shows the first two always and the others on demand
export const colorRoles = [
  'primary',
  'secondary',
  'background',
  'surface',
  'success',
  'warning',
  'error',
  'info'
] as const

// the order in which the server returns them, so that themes can be compared as JSON
const roleOrder = [
  'background',
  'surface',
  'primary',
  'secondary',
  'success',
  'warning',
  'error',
  'info'
] as const

export function withReplacedThemeColor(
  colors: Colors,
  role: (typeof colorRoles)[number],
  color: string | undefined
): Colors {
  const changed: Colors = { ...colors, [role]: color }
  const given = roleOrder.flatMap(each => (changed[each] ? [[each, changed[each]]] : []))
  return { dark: colors.dark, ...Object.fromEntries(given) }
}

export function describeThemePart(part: ThemePart, value: unknown, t: Translate): string {
  if (part !== 'colors') return t(value ? 'domains.look.own' : 'domains.look.none')
  const colors = value as Colors // as: the type of this part
  const named = colorRoles.flatMap(role =>
    colors[role] ? [`${t(`domains.look.colors.${role}`)} ${colors[role]}`] : []
  )
  return [...named, t(colors.dark ? 'domains.look.isDark' : 'domains.look.isLight')].join(', ')
}

interface DescribedThemeChange {
  label: string
  before: string | undefined
  after: string
}

export function describeThemeChanges(
  look: EditedTheme,
  themes: DomainThemes,
  locale: Locale,
  t: Translate
): DescribedThemeChange[] {
  const before = themeToEdit({ ...themes, draft: null })
  const standard = t('domains.look.standard')
  const modeOf = ({ dark }: Colors) => t(dark ? 'domains.look.isDark' : 'domains.look.isLight')
  const texts = [
    ...colorRoles.map(role => ({
      label: t(`domains.look.colors.${role}`),
      before: before.colors[role] ?? standard,
      after: look.colors[role] ?? standard
    })),
    { label: t('domains.look.mode'), before: modeOf(before.colors), after: modeOf(look.colors) }
  ]
  const pictures = themePictures.filter(part => before[part] !== look[part])
  return [
    ...texts.filter(change => change.before !== change.after),
    ...pictures.map(part => ({
      label: fieldLabel(part, locale),
      before: undefined,
      after: t(look[part] ? 'domains.look.replaced' : 'domains.look.removed')
    }))
  ]
}
