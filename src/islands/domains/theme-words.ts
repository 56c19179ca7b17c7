import type { Colors, DomainThemes } from '../../contract/domains.ts'
import type { Translate } from '../../i18n/index.ts'
import { type EditedTheme, themeToEdit } from '../../stores/admin/domains.ts'

/** A part of a theme, such as the logo. Each part is saved and compared as one value. */
export type ThemePart = (typeof themeParts)[number]
const themePictures = ['logo', 'logo_dark', 'favicon'] as const
export const themeParts = ['colors', ...themePictures] as const

/**
 * The colors of a theme, in the order of the editor. The editor always shows the first two colors,
 * and the other six on demand.
 */
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

/** The colors in the order in which the server returns them. */
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

/**
 * Returns a copy of `colors` in which the color of one role is `color`, or the standard color if
 * `color` is undefined. The keys have the order in which the server sends them, so that themes can
 * be compared as JSON.
 */
export function withReplacedThemeColor(
  colors: Colors,
  role: (typeof colorRoles)[number],
  color: string | undefined
): Colors {
  const changed: Colors = { ...colors, [role]: color }
  const given = roleOrder.flatMap(each => (changed[each] ? [[each, changed[each]]] : []))
  return { dark: colors.dark, ...Object.fromEntries(given) }
}

export function labelOfThemePart(part: ThemePart, t: Translate): string {
  return t(part === 'colors' ? 'domains.look.colors.label' : `domains.look.${part}`)
}

/** Returns the value of a part of a theme in words: `Main color #d24011, light by default`. */
export function describeThemePart(part: ThemePart, value: unknown, t: Translate): string {
  if (part !== 'colors') return t(value ? 'domains.look.own' : 'domains.look.none')
  const colors = value as Colors // as: the type of this part
  const named = colorRoles.flatMap(role =>
    colors[role] ? [`${t(`domains.look.colors.${role}`)} ${colors[role]}`] : []
  )
  return [...named, t(colors.dark ? 'domains.look.isDark' : 'domains.look.isLight')].join(', ')
}

/** A difference between the published theme and the draft, in words. */
interface DescribedThemeChange {
  label: string
  before: string | undefined
  after: string
}

/** Returns the differences, in words, between the published theme and the theme `look`. */
export function describeThemeChanges(
  look: EditedTheme,
  themes: DomainThemes,
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
      label: labelOfThemePart(part, t),
      before: undefined,
      after: t(look[part] ? 'domains.look.replaced' : 'domains.look.removed')
    }))
  ]
}
