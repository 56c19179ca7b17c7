import { useEffect, useState } from 'react'
import type { Colors } from '../../contract/domains.ts'
import { svgDataUrl } from '../../core/theme/svg-data-url.ts'
import { type ThemeTokens, themeTokens } from '../../core/theme/theme-colors.ts'
import { AnimatedSeal } from '../kit/AnimatedSeal.tsx'
import { useTranslation } from '../kit/use-translation.ts'

const modes = ['light', 'dark'] as const
type Mode = (typeof modes)[number]

interface ThemePreviewProps {
  name: string
  colors: Colors
  logo: string
  logoDark: string | undefined
}

export function ThemePreview({ name, colors, logo, logoDark }: ThemePreviewProps) {
  const { t } = useTranslation()
  const tokens = themeTokens(colors)
  usePreviewColors(tokens)
  return (
    <div className="grid min-w-0 gap-4 sm:grid-cols-2">
      {modes.map(mode => (
        <figure key={mode} className="flex min-w-0 flex-col gap-2">
          <figcaption className="label-text">
            {t(`domains.look.preview.${mode}`)}
            {colors.dark === (mode === 'dark') && ` · ${t('domains.look.preview.default')}`}
          </figcaption>
          <Sample name={name} mode={mode} logo={mode === 'dark' ? (logoDark ?? logo) : logo} />
        </figure>
      ))}
    </div>
  )
}

interface SampleProps {
  name: string
  mode: Mode
  logo: string
}

function Sample({ name, mode, logo }: SampleProps) {
  const { t } = useTranslation()
  return (
    <div
      className={`overflow-hidden rounded-box border border-base-300 bg-base-200 text-base-content ${classOf(mode)}`}
      aria-hidden="true"
      inert
      data-theme-sample={mode}
    >
      <div className="flex items-center gap-2 border-base-300 border-b bg-base-100 px-3 py-2">
        {logo ? (
          <img src={svgDataUrl(logo)} alt="" className="h-6 max-w-28 object-contain" />
        ) : (
          <span className="font-semibold">{name}</span>
        )}
        <span className="initials ms-auto">AL</span>
      </div>
      <div className="flex flex-col gap-3 p-3">
        <div className="flex flex-wrap gap-x-1 text-sm">
          <span className="rounded-field bg-base-300 px-3 py-1.5 font-semibold">
            {t('common.verify')}
          </span>
          <span className="px-3 py-1.5">{t('common.deposit')}</span>
          <span className="px-3 py-1.5">{t('common.history')}</span>
        </div>
        <div className="flex flex-col gap-2 rounded-box border border-base-300 bg-base-100 p-3">
          <span className="label-text">{t('domains.look.preview.field')}</span>
          <span className="input input-sm w-full">clerk@example.com</span>
          <span className="btn btn-primary btn-sm self-start">{t('common.signIn')}</span>
          <span className="link link-secondary text-sm">{t('domains.look.preview.link')}</span>
        </div>
        <div className="flex flex-col gap-2 rounded-box border border-base-300 bg-base-100 p-3">
          <AnimatedSeal
            className="size-12"
            state={{
              kind: 'sealed',
              leafHash: '7e3a91c05bd248f67e3a91c05bd248f67e3a91c05bd248f67e3a91c05bd248f6'
            }}
          />
          <span className="font-semibold text-sm text-success">
            {t('domains.look.preview.unchanged')}
          </span>
          <span className="font-serif">{t('domains.look.preview.verdict', { company: name })}</span>
        </div>
        <div className="flex flex-col gap-2 rounded-box border border-base-300 bg-base-100 p-3">
          <span className="label-text">{t('domains.look.preview.mail')}</span>
          <span className="font-serif font-semibold">
            {t('domains.look.preview.invited', { company: name })}
          </span>
          <span className="btn btn-primary btn-sm self-start">
            {t('domains.look.preview.activate')}
          </span>
        </div>
      </div>
    </div>
  )
}

function classOf(mode: Mode): string {
  return `theme-sample-${mode}`
}

// the content security policy forbids style attributes
function usePreviewColors(tokens: Record<Mode, ThemeTokens>): void {
  const [sheet, setSheet] = useState<CSSStyleSheet>()
  useEffect(() => {
    const own = new CSSStyleSheet()
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, own]
    setSheet(own)
    return () => {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter(each => each !== own)
    }
  }, [])
  useEffect(() => {
    sheet?.replaceSync(
      modes
        .map(mode => {
          const colors = Object.entries(tokens[mode]).map(([token, color]) => `${token}:${color}`)
          return `.${classOf(mode)}{color-scheme:${mode};${colors.join(';')}}`
        })
        .join('')
    )
  })
}
