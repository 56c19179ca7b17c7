import { useStore } from '@nanostores/react'
import { useEffect, useId, useRef } from 'react'
import type { DomainDetails, DomainThemes, Theme } from '../../contract/domains.ts'
import { svgDataUrl } from '../../core/theme/svg-data-url.ts'
import {
  colorCorrections,
  cssPropertyOf,
  themeCss,
  themeTokens
} from '../../core/theme/theme-colors.ts'
import { fieldLabel } from '../../i18n/field-label.ts'
import { $themes, openThemes } from '../../stores/admin/domains.ts'
import { EditConflict } from '../forms/EditConflict.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { LoadStatus } from '../kit/LoadStatus.tsx'
import { Section } from '../kit/Section.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { ColorField } from './ColorField.tsx'
import { PictureField } from './PictureField.tsx'
import { PublishTheme } from './PublishTheme.tsx'
import { ThemePreview } from './ThemePreview.tsx'
import { ThemeVersions } from './ThemeVersions.tsx'
import {
  colorRoles,
  describeThemePart,
  type ThemePart,
  withReplacedThemeColor
} from './theme-words.ts'
import { useThemeDraft } from './use-theme-draft.ts'

interface ThemeEditorProps {
  domain: DomainDetails
}

export function ThemeEditor({ domain }: ThemeEditorProps) {
  const { t } = useTranslation()
  const state = useStore($themes, { ssr: 'initial' })
  useEffect(() => {
    void openThemes(domain.id)
  }, [domain.id])
  return (
    <Section
      id="domain-look"
      title={t('domains.look.title')}
      note={t('domains.look.note')}
      state={state.status}
    >
      <LoadStatus state={state} retry={() => openThemes(domain.id)} />
      {state.status === 'ready' && <Editor domain={domain} themes={state.item} />}
    </Section>
  )
}

interface EditorProps extends ThemeEditorProps {
  themes: DomainThemes
}

const [primary, secondary, ...others] = colorRoles

function Editor({ domain, themes }: EditorProps) {
  const { locale, t } = useTranslation()
  const id = useId()
  const draft = useThemeDraft(domain.id, themes)
  useApplyPublishedTheme(domain.host, themes)
  const { look, change } = draft
  const { colors } = look
  const corrections = colorCorrections(colors)
  const standard = themeTokens({ dark: colors.dark })[colors.dark ? 'dark' : 'light']
  const pictureError = (name: ThemePart) => {
    const error = draft.refused[name]
    if (!error) return undefined
    const text = t(`fields.${error.rule}`, { limit: error.limit ?? '' })
    const isStyle = String(error.limit).endsWith('<style>')
    return isStyle ? `${text} ${t('domains.look.pictures.style')}` : text
  }
  const colorField = (role: (typeof colorRoles)[number]) => (
    <ColorField
      key={role}
      label={t(`domains.look.colors.${role}`)}
      color={colors[role]}
      standard={standard[cssPropertyOf(role)]}
      corrections={corrections.filter(each => each.colour === role)}
      onChange={color => change({ colors: withReplacedThemeColor(colors, role, color) })}
    />
  )
  return (
    <div className="flex flex-col gap-6">
      <EditConflict
        versioned={draft}
        wordsOf={(name, value) => describeThemePart(name as ThemePart, value, t)}
      />
      <div className="grid gap-8 lg:grid-cols-[minmax(0,24rem)_minmax(0,1fr)]">
        <div className="flex min-w-0 flex-col gap-5">
          {colorField(primary)}
          {colorField(secondary)}
          <div className="flex items-start gap-4">
            <input
              id={id}
              type="checkbox"
              role="switch"
              className="switch"
              checked={colors.dark}
              aria-checked={colors.dark}
              aria-describedby={`${id}-note`}
              onChange={event =>
                change({ colors: { ...colors, dark: event.currentTarget.checked } })
              }
            />
            <div className="min-w-0">
              <label htmlFor={id} className="font-medium">
                {t('domains.look.dark')}
              </label>
              <p id={`${id}-note`} className="text-ink-soft text-sm">
                {t('domains.look.darkNote')}
              </p>
            </div>
          </div>
          <details>
            <summary className="link link-secondary cursor-pointer">
              {t('domains.look.more')}
            </summary>
            <div className="mt-4 flex flex-col gap-5">{others.map(colorField)}</div>
          </details>
          <PictureField
            label={fieldLabel('logo', locale)}
            hint={t('domains.look.hints.logo')}
            picture={look.logo}
            error={pictureError('logo')}
            onChoose={logo => change({ logo })}
          />
          <PictureField
            label={fieldLabel('logo_dark', locale)}
            hint={t('domains.look.hints.logo_dark')}
            picture={look.logo_dark ?? ''}
            error={pictureError('logo_dark')}
            isDark
            onChoose={logo => change({ logo_dark: logo })}
            onRemove={look.logo_dark === null ? undefined : () => change({ logo_dark: null })}
          />
          <PictureField
            label={fieldLabel('favicon', locale)}
            hint={t('domains.look.hints.favicon')}
            picture={look.favicon}
            error={pictureError('favicon')}
            onChoose={favicon => change({ favicon })}
          />
        </div>
        <div className="flex min-w-0 flex-col gap-3 lg:sticky lg:top-24 lg:self-start">
          <h3 className="font-semibold">{t('domains.look.preview.title')}</h3>
          <ThemePreview
            name={domain.name}
            colors={colors}
            logo={look.logo}
            logoDark={look.logo_dark ?? undefined}
          />
        </div>
      </div>
      {draft.failure && <ErrorNote error={draft.failure} retry={() => draft.save()} />}
      <PublishTheme domain={domain} themes={themes} draft={draft} />
      <ThemeVersions domain={domain} themes={themes} draft={draft} />
    </div>
  )
}

/**
 * Shows a published theme on the open page, if it is on `host`. Later pages get it from the server.
 */
function useApplyPublishedTheme(host: string, { published }: DomainThemes): void {
  const { number, theme } = published
  const seen = useRef(number)
  const sheet = useRef<CSSStyleSheet>(undefined)
  useEffect(() => {
    if (number === seen.current) return
    seen.current = number
    if (host !== location.hostname) return
    if (!sheet.current) {
      // the page's policy allows no inline style but the one that the server has sent
      sheet.current = new CSSStyleSheet()
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet.current]
    }
    sheet.current.replaceSync(themeCss(theme.colors))
    showPictures(theme)
  }, [host, number, theme])
}

function showPictures({ logo, logo_dark, favicon }: Theme): void {
  document.querySelector('link[rel=icon]')?.setAttribute('href', svgDataUrl(favicon))
  const [light, dark] = document.querySelectorAll<HTMLImageElement>('.bar-logo img')
  if (!light) return
  light.src = svgDataUrl(logo)
  light.classList.toggle('in-light', logo_dark !== undefined)
  dark?.remove()
  if (logo_dark === undefined) return
  const other = new Image()
  other.className = 'in-dark'
  other.alt = light.alt
  other.height = light.height
  other.src = svgDataUrl(logo_dark)
  light.after(other)
}
