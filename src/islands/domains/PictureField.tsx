import { useId, useState } from 'react'
import { svgDataUrl } from '../../core/theme/svg-data-url.ts'
import { useTranslation } from '../kit/use-translation.ts'

interface PictureFieldProps {
  label: string
  hint: string
  picture: string
  error: string | undefined
  isDark?: boolean
  onChoose: (svg: string) => void
  onRemove?: (() => void) | undefined
}

// the server refuses larger pictures, and names what it refuses
const mostBytes = 64 * 1024

export function PictureField(props: PictureFieldProps) {
  const { label, hint, picture, error, isDark = false, onChoose, onRemove } = props
  const { t } = useTranslation()
  const id = useId()
  const [fault, setFault] = useState<string>()
  const shownError = fault ?? error

  const read = async (file: File | undefined) => {
    if (!file) return
    setFault(undefined)
    if (file.size > mostBytes) return setFault(t('domains.look.pictures.large'))
    const bytes = await file.arrayBuffer().catch(() => undefined)
    if (bytes === undefined) return setFault(t('domains.look.pictures.unreadable'))
    const text = decodeSvg(new Uint8Array(bytes))
    if (text === undefined) return setFault(t('domains.look.pictures.encoding'))
    if (!/<(?:[\w-]+:)?svg[\s>]/i.test(text)) return setFault(t('domains.look.pictures.noSvg'))
    onChoose(text)
  }

  return (
    <div className="flex flex-col gap-1.5">
      <span className="label-text" id={`${id}-label`}>
        {label}
      </span>
      <label
        data-drop-zone="picture"
        data-says={t('domains.look.pictures.drop')}
        data-hint={label}
        className={`flex cursor-pointer items-center gap-4 rounded-box border-2 border-dashed p-3 transition-colors duration-100 hover:border-secondary has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-base-content ${shownError ? 'border-error' : 'border-(--line)'}`}
        onDrop={event => {
          event.preventDefault()
          void read(event.dataTransfer.files[0])
        }}
      >
        <span
          className={`flex h-14 w-24 shrink-0 items-center justify-center rounded-field border border-base-300 p-1 ${isDark ? 'bg-neutral-900' : 'bg-white'}`}
        >
          {picture && (
            <img
              src={svgDataUrl(picture)}
              alt={t('domains.look.pictures.present', { picture: label })}
              className="max-h-full max-w-full object-contain"
            />
          )}
        </span>
        <span className="flex min-w-0 flex-col gap-1">
          <span className="link link-secondary font-medium">
            {t(picture ? 'domains.look.pictures.replace' : 'domains.look.pictures.choose')}
          </span>
          <span id={`${id}-hint`} className="text-ink-soft text-sm">
            {hint}
          </span>
        </span>
        <input
          type="file"
          accept=".svg,image/svg+xml"
          className="sr-only"
          aria-labelledby={`${id}-label`}
          aria-invalid={shownError !== undefined}
          aria-describedby={`${id}-hint ${id}-error`}
          onChange={event => {
            const [file] = event.currentTarget.files ?? []
            event.currentTarget.value = ''
            void read(file)
          }}
        />
      </label>
      <p id={`${id}-error`} role="alert" className="text-error text-sm empty:hidden">
        {shownError}
      </p>
      {onRemove && (
        <button
          type="button"
          className="btn btn-ghost btn-sm self-start"
          onClick={() => {
            setFault(undefined)
            onRemove()
          }}
        >
          {t('domains.look.pictures.remove')}
        </button>
      )}
    </div>
  )
}

/**
 * Decodes as browsers do: by the byte order mark, or the declared encoding, or as UTF-8. Returns
 * undefined for bytes that are no text.
 */
export function decodeSvg(bytes: Uint8Array): string | undefined {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, 200))
  const [, declared = 'utf-8'] = /^<\?xml[^>]*\bencoding\s*=\s*["']([\w.:-]+)["']/.exec(start) ?? []
  const marked = start.startsWith('\u00ff\u00fe') || start.startsWith('\u00fe\u00ff')
  try {
    // a declaration that could be read as single bytes is not itself in UTF-16
    const encoding = /^utf-?16/i.test(declared) ? 'utf-8' : declared
    const marks = start.startsWith('\u00fe') ? 'utf-16be' : 'utf-16le'
    return new TextDecoder(marked ? marks : encoding, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
